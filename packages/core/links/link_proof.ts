/** @internal */
export const ownProofs = ["connection", "oauth", "words"] as const;

/** @internal */
export const gameProofs = [...ownProofs, "session", "known"] as const;

/**
 * The ways to prove a game account. `connection`: the user has connected it at the chat platform, which calls it
 * verified. `oauth`: the user signed in at the game platform. `words`: the user put the service's words into the
 * account's public description. `session`: the client that created the session named its player. `known`: the user has
 * proven it to another community of this deployment by an `OwnProof`, and is linked to it there still.
 */
export type GameProof = (typeof gameProofs)[number];

/**
 * How a link was confirmed: by a proof of the game account, by `hand` (an API key, a member of the account or the
 * operator), or by an `import`, which its owner never verified. A later write without a proof keeps a proof. Null if unknown: the link is of a fixture, or of a
 * release that did not store this.
 */
export type LinkProof = GameProof | "hand" | "import" | null;

/** The ways that count in other communities too. `session` is the word of a key's holder, which counts in its scope alone. */
export type OwnProof = (typeof ownProofs)[number];

/** Returns whether the user has proven the account by a way that counts in other communities. @internal */
export const isOwnProof = (proof: LinkProof): proof is OwnProof => own.has(proof);

const own: ReadonlySet<unknown> = new Set<LinkProof>(ownProofs);

const proven: ReadonlySet<unknown> = new Set<LinkProof>(gameProofs);

/** Returns whether the user of the link has proven the game account. @internal */
export const isProven = (proof: LinkProof): boolean => proven.has(proof);

/** Returns whether the user has confirmed the link. An unknown confirmation counts. @internal */
export const isByOwner = (proof: LinkProof): boolean => proof === null || isProven(proof);

/** @internal */
export const linkProofs: ReadonlyArray<LinkProof> = [...gameProofs, "hand", "import", null];

const known: ReadonlySet<unknown> = new Set(linkProofs);

/** @internal */
export const isLinkProof = (value: unknown): value is LinkProof => known.has(value);
