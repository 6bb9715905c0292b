//! Log-probs of model-owned tokens. The only room that knows candle; one thread owns the model.
