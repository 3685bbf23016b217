import sys,time; sys.path.insert(0,'src')
import torch,numpy as np
from mltsk import MLTSKClassifier
import mltsk.fit.fit as ff
N,D,L=1_000_000,500,50
g=torch.Generator("cuda").manual_seed(0)
def normal(*s): return torch.randn(*s,generator=g,device="cuda")
X=normal(N,D)+.7*normal(30,D)[torch.randint(30,(N,),generator=g,device="cuda")]
side=(X@normal(D)>0)[:,None]; Y=((torch.where(side,X@normal(D,L),X@normal(D,L))/D**.5+.5*normal(N,L))>.8).float()
def timed(f):
    torch.cuda.synchronize(); t=time.perf_counter(); r=f(); torch.cuda.synchronize(); return time.perf_counter()-t,r
spent={}
def wrap(name):
    f=getattr(ff,name)
    def call(*a,**k):
        t,r=timed(lambda: f(*a,**k)); spent[name]=spent.get(name,0)+t; return r
    setattr(ff,name,call)
for n in (20000,):
    t,c=timed(lambda: MLTSKClassifier().fit(X[:n],Y[:n])); print('small',n,t,c.n_rules_,c.order_)
    h=MLTSKClassifier().fit(X[:n].double().cpu().numpy(),Y[:n].cpu().numpy()); d=MLTSKClassifier().fit(X[:n].double(),Y[:n]); print('host/device diff',abs(h.decision_function(X[:2000].double().cpu().numpy())-d.decision_function(X[:2000].double()).cpu().numpy()).max())
for _ in range(3):
    t,c=timed(lambda: MLTSKClassifier().fit(X,Y)); print('fit',t,c.n_rules_,c.order_,'mem',torch.cuda.max_memory_allocated()/1e9,flush=True)
for n in ('_chosen','_solve','_primal','_fitted','_penalty'): wrap(n)
t,c=timed(lambda: MLTSKClassifier().fit(X,Y)); print(t,spent)
t,p=timed(lambda: c.predict(X)); print('predict',t, float((p==Y).float().mean()))
import cProfile,pstats
pr=cProfile.Profile(); pr.enable(); MLTSKClassifier().fit(X,Y); pr.disable(); pstats.Stats(pr).sort_stats('tottime').print_stats(12)
