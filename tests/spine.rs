//! Tests of spine.
