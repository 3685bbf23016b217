"""The methods that the paper compares, one file each, and all of them in `METHODS`.

=============  ======================  ================================================
key            class                   what it is
=============  ======================  ================================================
``ml-knn``     `MLkNN`                 labels of the k nearest neighbours, by maximum a
                                       posteriori
``hnoml``      `HNOML`                 bi-sparse regression onto enriched labels; our
                                       reconstruction
``mlsf``       `MLSF`                  chains of linear SVMs on features that are chosen
                                       per group of labels
``cc``         `ClassifierChainTSK`    a chain of ε-insensitive TSK systems
``br``         `BinaryRelevanceTSK`    one ε-insensitive TSK system per label
``c2ae``       `C2AE`                  canonical correlated autoencoder
``bp-mll``     `BPMLL`                 one hidden layer, trained on a pairwise ranking
                                       loss
``jbnn``       `JBNN`                  one hidden layer with joint binary cross-entropy;
                                       our reconstruction
``ml-tsk-fs``  `PaperMLTSK`            the paper's method as its authors run it
=============  ======================  ================================================

What came after the paper is in `SUCCESSORS`: ``ml-hdtsk-fs``, `MLHDTSK`.

Every class has ``PAPER_GRID``, the paper's Table II (a successor a grid of ours), and
``grid_path``, which evaluates a grid without doing anything twice. `BPMLL` and `JBNN`
need PyTorch to fit, and `C2AE` needs it on a GPU: ``pip install "mltsk[torch]"``.

A module that is imported here registers its method by itself.
"""

from .base import METHODS, SUCCESSORS, GridPoint, MultilabelMethod
from .binary_relevance import BinaryRelevanceTSK
from .bp_mll import BPMLL
from .c2ae import C2AE
from .classifier_chain import ClassifierChainTSK
from .hnoml import HNOML
from .jbnn import JBNN
from .ml_hdtsk_fs import MLHDTSK
from .ml_knn import MLkNN
from .ml_tsk_fs import PaperMLTSK
from .mlsf import MLSF

__all__ = [
    "BPMLL",
    "C2AE",
    "HNOML",
    "JBNN",
    "METHODS",
    "MLHDTSK",
    "MLSF",
    "SUCCESSORS",
    "BinaryRelevanceTSK",
    "ClassifierChainTSK",
    "GridPoint",
    "MLkNN",
    "MultilabelMethod",
    "PaperMLTSK",
]
