"""Running a model with numpy and onnxruntime: windows, encoder, mention proposal, clustering."""
