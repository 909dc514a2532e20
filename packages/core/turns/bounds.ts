/**
 * The numbers of fairness, in one place. Each was measured by `test/load/neighbours_proof.ts`: an account or an address
 * does its worst, while another one looks up, writes, signs in and previews. `docs/fairness.md` says what they bound.
 *
 * @internal
 */
export const bounds = {
  /** Plain bulks of an account at a time. With 4, Redis and Postgres answered a third less in the bench. */
  bulks: 32,
  /** Writes of an account at a time. With 64, no more were answered, since writes share commits. */
  writes: 16,
  /** Other requests of an account at a time, which cost more. With more, each step of another account waits for more. */
  dearRequests: 4,
  /** Requests of an address without a sign-in at a time. With 4, a classroom that signs in together waited. */
  visits: 8,
  /**
   * The part of the process for the work of accounts beside others, and for visits. With 3/4, the p99 of a neighbour was
   * up to 205 ms, with 1/2 up to 60 ms, but then bulks were a few less than half of those without a neighbour.
   */
  workingPart: 0.6,
  /** How long accounts may work at once before they rest, in milliseconds. A page that reads four lists takes as long. */
  workedAtOnce: 100,
  /** The work to read a request and to write its answer, in milliseconds: half of the work of a bulk of 1,000. */
  workAroundStep: 1,
  /** How long an account counts as there after its last request, in milliseconds. A bot polls once in a second. */
  presence: 1_000,
  /** How long transactions join a commit, in milliseconds: as long as a slow disk takes to sync. */
  commitJoined: 20,
  /** Requests of a connection in flight, as the contract says. */
  requestsInFlight: 16,
  /** How many bytes the parser gets at once: at most 57 requests. The 64 KiB that Node reads take it 50 ms. */
  pieceSize: 1_024,
  /** How long requests start in one turn of the event loop, in milliseconds. With 5, a sign-in of 20 turns took 100. */
  startTime: 2,
  /** How long requests wait while connections are accepted, in milliseconds: as long as 50 connections take. */
  acceptingTime: 20,
  /** How long sockets are read in pieces after a client has pipelined, in milliseconds. It costs a tenth of a lookup. */
  watchTime: 60_000,
  /** How many times more requests of an address start than its limits allow, so that clients read when to come again. */
  startedOverLimit: 2,
} as const;
