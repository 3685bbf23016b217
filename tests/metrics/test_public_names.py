import subprocess
import sys

import mltsk.metrics


def test_metrics_names_can_all_be_imported():
    assert all(
        getattr(mltsk.metrics, name) is not None for name in mltsk.metrics.__all__
    )


def test_metrics_has_no_unknown_names():
    assert not hasattr(mltsk.metrics, "accuracy_of_everything")


def test_metrics_import_nothing_heavy():
    code = (
        "import sys, mltsk.metrics; "
        "print(sorted({'sklearn', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
