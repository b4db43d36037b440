//! The conformance kit: what a chat server must do to be measured, as checks over real connections.
