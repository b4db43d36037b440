//! The channel that controls a crowd.

use std::sync::mpsc::{Receiver, Sender, channel};

use klatch_record::{Failure, FailureKind};

use crate::shared::ControlMessage;

/// Controls a crowd from another thread.
#[derive(Clone)]
pub struct ControlSender(Sender<ControlMessage>);

/// The crowd's end of a [`ControlSender`].
pub struct ControlReceiver(pub(crate) Receiver<ControlMessage>, pub(crate) Sender<ControlMessage>);

/// Creates the two ends of the channel that controls a crowd.
pub fn control_channel() -> (ControlSender, ControlReceiver) {
    let (sender, receiver) = channel();
    (ControlSender(sender.clone()), ControlReceiver(receiver, sender))
}

impl ControlSender {
    /// Opens the gate of a steered crowd when all users have joined.
    pub fn go(&self) {
        self.send(ControlMessage::Go);
    }

    /// Ends a steered crowd after its last delivery.
    pub fn quit(&self) {
        self.send(ControlMessage::Quit);
    }

    /// Makes a crowd that talks send nothing more. It reports [`CrowdEvent::Paused`] when all that it sent is delivered.
    pub fn pause(&self) {
        self.send(ControlMessage::Pause);
    }

    /// Continues a paused crowd.
    pub fn resume(&self) {
        self.send(ControlMessage::Resume);
    }

    /// Ends a crowd in a pause, although its users have not sent all their messages.
    pub fn finish(&self) {
        self.send(ControlMessage::Finish);
    }

    /// Stops the crowd in any phase. The result gets a failure with this reason.
    pub fn stop(&self, reason: &str) {
        let detail = reason.to_owned();
        self.send(ControlMessage::Failed(Failure {
            kind: FailureKind::Stopped,
            connection: None,
            room: None,
            user: None,
            detail,
        }));
    }

    fn send(&self, message: ControlMessage) {
        // The receiver is gone only when the crowd has ended.
        let _ = self.0.send(message);
    }
}
