// A request that is not carried out, with the status of its reply.
export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

export const unknownUser = (user) => new Refused(401, `user ${user} is unknown`);
export const noQuote = (symbol) => new Refused(404, `there is no quote ${symbol}`);
