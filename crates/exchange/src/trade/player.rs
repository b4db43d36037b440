//! What a crowd needs of someone who trades, whichever application is behind the server.

use super::ledger::UserLedger;
use super::operation::OperationKind;
use crate::audited::ReplyError;

/// What follows a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The operation has another request.
    Next,
    /// The operation is complete, and every reply was right.
    Complete,
    /// The operation ends with a wrong reply.
    Failed(ReplyError),
}

/// Someone who makes one operation after another, request by request, and checks each reply.
pub trait Player: Send + 'static {
    /// The cookie by which the server knows the session.
    const COOKIE: &'static str;
    /// Whether the server may announce in a reply that it closes the connection, as servers do after some number of requests.
    const MAY_CLOSE: bool;
    /// What all players of a worker know of the market together.
    type Market: Send;

    /// Makes the request by which the player joins the next one. It changes nothing, and is not counted.
    fn join(&mut self);

    /// Draws the next operation, and its first request.
    fn begin(&mut self);

    /// The operation in progress. A reply can change it: a sell becomes a buy if there is nothing to sell.
    fn operation(&self) -> OperationKind;

    /// Appends the next request. `host` is the value of its header Host.
    fn write_request(&self, host: &str, out: &mut Vec<u8>);

    /// The name of the request in flight, for messages.
    fn request_name(&self) -> &'static str;

    /// The user in session, or the last one, for messages.
    fn user_name(&self) -> String;

    /// Takes the reply to the request in flight. `set_cookie` is the value that it sets for [`Player::COOKIE`], name included.
    fn on_reply(
        &mut self,
        market: &mut Self::Market,
        status: u16,
        set_cookie: Option<&[u8]>,
        body: &[u8],
    ) -> Progress;

    /// No reply to the request in flight will come.
    fn on_lost(&mut self);

    /// The ledgers of all users that the player has played, for the audit.
    fn take_ledgers(&mut self) -> Vec<UserLedger>;
}
