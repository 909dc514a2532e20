/**
 * Parameters of the dashboard.
 */
import { parseNetwork } from "@accountlink/core/addresses";
import { type AuditAction, auditActions } from "@accountlink/core/audit";
import type { KeyAccess } from "@accountlink/core/keys";
import { nameText } from "@accountlink/core/name_text";
import { isOrigin } from "@accountlink/core/origin";
import { formatTimestamp, type Millis, Timestamp } from "@accountlink/core/timestamp";
import { Option, Schema, SchemaTransformation } from "effect";
import { type Parameter, required, withFallback } from "../parameter.ts";

/** Makes the parameter optional; undefined when it is left out. */
export const unlessLeftOut = <A>(parameter: Parameter<A>): Parameter<A | undefined> =>
  withFallback(parameter, undefined);

/** The id of a key in a path. Any text is taken: a malformed id is an unknown key. */
export const keyInPath = (): Parameter<string> => ({
  ...required(Schema.String, "expected the id of a key", "Public id of the key"),
  isInPath: true,
});

/** The id of a key in a query, likewise. */
export const keyId = (description: string): Parameter<string> =>
  required(Schema.String, "expected the id of a key", description);

const longestName = 80;

/** What an owner calls a key. */
export const keyName = (): Parameter<string> =>
  required(
    Schema.String.check(Schema.isMinCodePoints(1), Schema.isMaxCodePoints(longestName), nameText),
    `expected 1 to ${longestName} characters, no control characters or direction overrides`,
    "What you call it",
  );

/** Which guilds a key is for. */
export const keyScope = (): Parameter<"global" | "guild"> =>
  required(Schema.Literals(["global", "guild"]), "expected global or guild", "Every guild, or one");

/** What a key is for. */
export const keyAccess = (): Parameter<KeyAccess> =>
  required(
    Schema.Literals(["full", "read", "verify"]),
    "expected full, read or verify",
    "What it is for: everything, lookups, or verification sessions with the lookups that they need",
  );

const mostEntries = 100;

const listOf = (isRight: (text: string) => boolean, expected: string) =>
  Schema.Array(Schema.String.check(Schema.makeFilter(isRight, { expected }))).check(
    Schema.isMaxLength(mostEntries),
  );

const networks = listOf((text) => Option.isSome(parseNetwork(text)), "an address or a CIDR");

/** Addresses and networks. */
export const networkList = (description: string): Parameter<ReadonlyArray<string>> =>
  required(networks, `expected a list of at most ${mostEntries} addresses or CIDRs`, description);

/** Origins of redirects. */
export const originList = (): Parameter<ReadonlyArray<string>> =>
  required(
    listOf(isOrigin, "an origin"),
    `expected a list of at most ${mostEntries} origins such as "https://example.com"`,
    "Sites that verified users may be sent to",
  );

const Time = Timestamp.pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transform<Millis, string>({
      decode: (text) => Date.parse(text),
      encode: formatTimestamp,
    }),
  ),
);

/** When a key expires; null for never. */
export const expiresAt = (): Parameter<Millis | null> => ({
  ...required(
    Schema.NullOr(Time),
    "expected an ISO 8601 timestamp or null",
    "When it expires; null for never",
  ),
  takesNull: true,
});

/** The status that an owner can set. */
export const keyStatus = (): Parameter<"active" | "disabled"> =>
  required(
    Schema.Literals(["active", "disabled"]),
    "expected active or disabled",
    "Whether requests with it are accepted",
  );

const longestGrace = 604_800;

/** How long the secrets before a rotation stay accepted. */
export const graceSeconds = (): Parameter<number> =>
  withFallback(
    required(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: longestGrace })),
      `expected whole seconds from 0 to ${longestGrace}`,
      "How long the secret before stays accepted",
    ),
    86_400,
  );

const WholeNumber = Schema.String.check(Schema.isPattern(/^\d{1,9}$/u)).pipe(
  Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString),
);

const numberTo = (most: number, fallback: number, description: string): Parameter<number> =>
  withFallback(
    required(
      WholeNumber.check(Schema.isBetween({ minimum: 1, maximum: most })),
      `expected a whole number from 1 to ${most}`,
      description,
    ),
    fallback,
  );

/** How many UTC days, today included. */
export const days = (): Parameter<number> => numberTo(90, 30, "How many UTC days, today included");

/** How many entries a page has. */
export const pageLimit = (): Parameter<number> => numberTo(100, 50, "How many entries at most");

/** Where the page before ended: its `next`. */
export const cursor = (): Parameter<number | null> =>
  withFallback(
    required(
      Schema.String.check(Schema.isPattern(/^\d{1,15}$/u)).pipe(
        Schema.decodeTo(Schema.Int, SchemaTransformation.numberFromString),
      ),
      "expected the next of an earlier page",
      "`next` of the page before",
    ),
    null,
  );

/** An action of the audit log. */
export const auditAction = (): Parameter<AuditAction | null> =>
  withFallback(
    required(
      Schema.Literals(auditActions),
      `expected one of ${auditActions.join(", ")}`,
      "Only entries of this action",
    ),
    null,
  );
