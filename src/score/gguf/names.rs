//! What GGUF calls the tensors that Hugging Face names otherwise.

use crate::score::shape::Family;

/// Returns the GGUF name of a Hugging Face tensor.
pub(super) fn gguf_name(family: Family, name: &str) -> Option<String> {
    let fixed = match name {
        "model.embed_tokens.weight" => Some("token_embd.weight"),
        "model.norm.weight" => Some("output_norm.weight"),
        "lm_head.weight" => Some("output.weight"),
        _ => None,
    };
    if let Some(fixed) = fixed {
        return Some(fixed.to_owned());
    }
    let (layer, rest) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let (part, kind) = rest.rsplit_once('.')?;
    Some(format!("blk.{layer}.{}.{kind}", in_layer(family, part)?))
}

fn in_layer(family: Family, part: &str) -> Option<&'static str> {
    let gemma = family == Family::Gemma3;
    Some(match part {
        "input_layernorm" => "attn_norm",
        "self_attn.q_proj" => "attn_q",
        "self_attn.k_proj" => "attn_k",
        "self_attn.v_proj" => "attn_v",
        "self_attn.qkv_proj" => "attn_qkv",
        "self_attn.o_proj" => "attn_output",
        "self_attn.q_norm" => "attn_q_norm",
        "self_attn.k_norm" => "attn_k_norm",
        "post_attention_layernorm" if gemma => "post_attention_norm",
        "post_attention_layernorm" | "pre_feedforward_layernorm" => "ffn_norm",
        "post_feedforward_layernorm" => "post_ffw_norm",
        "mlp.gate_proj" => "ffn_gate",
        "mlp.up_proj" => "ffn_up",
        // Phi-3 keeps both in one.
        "mlp.gate_up_proj" if family == Family::Phi3 => "ffn_up",
        "mlp.down_proj" => "ffn_down",
        _ => return None,
    })
}
