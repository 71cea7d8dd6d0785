"""A device that is not there: tensors that say that they are elsewhere, and obey the rules of a GPU.

Their numbers are in the CPU's memory, and computed there. What a GPU refuses is refused: an operation on
tensors of two devices (unless one is a single number), and NumPy's view of a tensor that is not on the CPU.
torch calls it "meta", a name that needs no driver.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

ELSEWHERE = torch.device("meta", 0)
_MOVES = ("aten::_to_copy", "aten::copy_")


class _Away(Tensor):
    """A tensor on the device."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "_Away":
        made: _Away = Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=ELSEWHERE,
        )
        made.held = held
        return made

    def tolist(self) -> Any:
        return self.held.tolist()

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(operation, args, kwargs or {})


def _run(operation: Any, args: Any, kwargs: Any) -> Any:
    name = operation._schema.name
    tensors = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, Tensor)]
    away = any(isinstance(tensor, _Away) for tensor in tensors)
    if away and name not in _MOVES:
        here = [tensor for tensor in tensors if not isinstance(tensor, _Away) and tensor.dim()]
        if here:
            raise RuntimeError(f"{name}: tensors on two devices")
    if kwargs.get("device") is not None:
        away = torch.device(kwargs["device"]).type == ELSEWHERE.type
        kwargs = kwargs | {"device": torch.device("cpu")}
    found = operation(*tree_map(_held, args), **tree_map(_held, kwargs))
    if name.endswith("_") or "out" in kwargs:
        # In place: what was changed is given back.
        return kwargs["out"] if "out" in kwargs else args[0]
    return tree_map(lambda value: _Away(value) if away and isinstance(value, Tensor) else value, found)


def _held(value: Any) -> Any:
    return value.held if isinstance(value, _Away) else value


class Elsewhere(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it is entered, tensors can be made on, and moved to, the device."""

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(operation, args, kwargs or {})
