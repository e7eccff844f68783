"""`lotus env`: what to set where a program is started another way than by `lotus run`."""
import os
import shlex

from . import places


def shell():
    return f"export LD_PRELOAD={shlex.quote(places.preload(os.environ))}"


def docker():
    return (f"docker run -v {shlex.quote(str(places.HOME))}:/opt/lotus:ro -v \"$PWD:/traces\" \\\n"
            "  -e LD_PRELOAD=/opt/lotus/lib/liblotus.so -e LOTUS_OUTPUT=/traces IMAGE python train.py\n"
            "# or, with the package installed in the image: docker run IMAGE lotus run -- python train.py")


def kubernetes():
    return ("# in the container's specification; the image has the package installed under the same path\n"
            "env:\n"
            f"  - {{name: LD_PRELOAD, value: \"{places.LIBRARY}\"}}\n"
            "  - {name: LOTUS_OUTPUT, value: /traces}    # a volume that outlives the pod")


def slurm():
    return (f"srun --export=ALL,LD_PRELOAD={places.LIBRARY},LOTUS_OUTPUT=\"$PWD\" python train.py\n"
            "# the package must be under this path on each node, as on a file system that they share")


def torchrun():
    return f"LD_PRELOAD={shlex.quote(str(places.LIBRARY))} torchrun --nproc-per-node 2 train.py"


def jupyter():
    return ("# in the kernel's kernel.json (jupyter kernelspec list names its directory)\n"
            f"\"env\": {{\"LD_PRELOAD\": \"{places.LIBRARY}\"}}\n"
            "# or for all kernels of a server\n"
            f"LD_PRELOAD={shlex.quote(str(places.LIBRARY))} jupyter lab")


def systemd():
    return (f"[Service]\nEnvironment=\"LD_PRELOAD={places.LIBRARY}\"\nEnvironment=LOTUS_OUTPUT=/var/tmp\n"
            "# systemd ends what a service has started together with it: KillMode=process leaves\n"
            "# the collector the time to close the trace")


def pycharm():
    return ("# Run | Edit Configurations… | Environment variables\n"
            f"LD_PRELOAD={places.LIBRARY};LOTUS_OUTPUT={os.getcwd()}")


# What is printed, by name. The first ones come first.
WAYS = {"shell": shell, "torchrun": torchrun, "docker": docker, "slurm": slurm, "kubernetes": kubernetes,
        "jupyter": jupyter, "systemd": systemd, "pycharm": pycharm}


def add_options(parser):
    parser.add_argument("where", nargs="?", choices=WAYS, metavar="WHERE",
                        help="one of " + ", ".join(WAYS) + "; default: all. `eval \"$(lotus env shell)\"` "
                        "sets the variables in a shell")


def run(options):
    if options.where:
        print(WAYS[options.where]())
        return 0
    print("\n\n".join(f"# {name}\n{way()}" for name, way in WAYS.items()))
    return 0
