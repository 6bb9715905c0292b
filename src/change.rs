//! What somebody changed, by fingerprint; what a claim must carry before it is accepted. Pure.
