/**
 * The numbers of fairness, each with what it was measured by; `docs/fairness.md` says what they bound. The proof
 * `test/load/neighbours_proof.ts` holds them together, so run it after a change. @internal
 */
export const bounds = {
  /** Plain bulks of an account at a time. On Postgres and Redis a bulk took 120 µs of the process, with 4 176 µs. */
  bulks: 32,
  /** Writes of an account at a time. They share commits, and with 64 no more were answered. */
  writes: 16,
  /**
   * Other requests of an account at a time, visits of all addresses that begin at a time, and visits of an address in a
   * second that wait for no time. With more, each step of another account waits for more of them: when 128 visits of 16 addresses began
   * at once, a lookup took 153 ms, with 4 37 ms. Without free ones a sign-in on Postgres took 95 to 190 ms, with 4 80 to 145.
   */
  dearRequests: 4,
  /** Visits of an address at a time, which a school or a carrier may share. The proof of neighbours holds with 8. */
  visits: 8,
  /**
   * The part of the time for accounts beside others. A bulk customer beside a quiet neighbour gets 0.55 of their bulks on
   * Postgres and Redis with 0.6, and 0.44 to 0.48 with 0.5. Beside bulks with 3/4 of the time, the p99 of a neighbour was 57
   * to 205 ms.
   */
  workingPart: 0.6,
  /**
   * How long accounts work at once before they rest, in milliseconds. Beside short forms on the embedded storage, a preview
   * took 113 to 152 ms with 100, with 50 91 to 125 ms.
   */
  workedAtOnce: 50,
  /** How long a request is read and its answer is written, at most, in milliseconds. A bulk of 50 takes a tenth of it. */
  workAroundStep: 1,
  /** How long an account is there after its last request, in milliseconds: the window of most limits. */
  presence: 1_000,
  /** How long transactions join a commit, and a visit begins, in milliseconds. A sync of a disk takes 1 to 10. */
  commitJoined: 20,
  /** Requests of a connection in flight: the contract's number. */
  requestsInFlight: 16,
  /** How many bytes the parser gets at once: at most 57 requests. The 64 KiB that Node reads take it 50 ms. */
  pieceSize: 1_024,
  /** How long requests start in a round of the event loop, in milliseconds. A sign-in waits for some 20 rounds. */
  startTime: 2,
  /**
   * How long they start after as much other work, and wait while connections are accepted: 50 took 50 rounds. A place of
   * sweeps at a platform rests as long at most: 8 places then send 47 requests of 150 ms in a second, and Discord allows 50.
   * An account rests as long at least: with 25,000 rests of some 0.7 ms in a second, a bulk customer got 0.27 of their bulks.
   */
  longestTurn: 20,
  /** How long sockets are read in pieces after a client pipelined or sent chunks, in milliseconds. It adds a tenth to a lookup. */
  watchTime: 60_000,
  /** How many times more requests start than an address may send. The proof of attacks holds with 2. */
  startedOverLimit: 2,
} as const;
