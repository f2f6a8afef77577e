"""Carfield on QEMU's bare RISC-V machine `virt`: hart 0 is the host, harts 1 and 2 are the clusters (docs/port.md)."""
