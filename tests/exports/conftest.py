"""Generators run where TensorFlow or PyTorch is installed, which tests don't need."""

collect_ignore = ["export_pytorch.py", "export_tensorflow.py"]
