/**
 * The rules of verification sessions that a deployment may set.
 */
import { Context } from "effect";

/** Times are in milliseconds; 0 turns a rule off, but for the life of a session, which has to be positive, and for sightings. */
export interface SessionRules {
  /** How long a session can be finished and read. */
  readonly life: number;
  /** Least time from the end of one read of a session to the next. */
  readonly pollInterval: number;
  /** How often a session can be read. */
  readonly pollLimit: number;
  /** Longest wait of a long poll. */
  readonly longPollMax: number;
  /** Longest stream. */
  readonly streamMax: number;
  /** How many sessions a key may create at once. */
  readonly createBurst: number;
  /** How long until a key may create one more. */
  readonly createRefill: number;
  /** How long a sighting is kept from when the chat user was last seen at the address; with 0 none is kept. */
  readonly sightingRetention: number;
}

/** The rules of this deployment; provide another value to change them. */
export const SessionSettings = Context.Reference<SessionRules>("@accountlink/core/SessionSettings", {
  defaultValue: () => ({
    life: 300_000,
    pollInterval: 2_000,
    pollLimit: 150,
    longPollMax: 25_000,
    streamMax: 30_000,
    createBurst: 6,
    createRefill: 10_000,
    sightingRetention: 15_552_000_000,
  }),
});
