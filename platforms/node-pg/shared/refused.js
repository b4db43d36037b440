// A request that is not carried out, with the status of its reply.
export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}
