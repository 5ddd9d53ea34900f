"""Silver documents: unlabelled text that a model has labelled, to train other models on."""
