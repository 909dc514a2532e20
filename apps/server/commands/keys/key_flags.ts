import { parseNetwork } from "@accountlink/core/addresses";
import { keyAccesses } from "@accountlink/core/keys";
import type { KeyLimits } from "@accountlink/core/limits";
import { isOrigin } from "@accountlink/core/origin";
import { Effect, Option, Record } from "effect";
import { type Command, Flag } from "effect/cli";
import { countFlag, durationFlag, refuse, switchFlag, textFlag } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";

const isNetwork = (text: string): boolean => Option.isSome(parseNetwork(text));

const networksFlag = (name: string, description: string) =>
  textFlag(name, isNetwork, "an IP address or a CIDR").pipe(
    Flag.withMetavar("address"),
    Flag.withDescription(`${description}: an address or a CIDR; can be repeated`),
    Flag.atLeast(0),
  );

export const accessFlag = Flag.Literals("access", keyAccesses).pipe(
  Flag.withDescription(
    "What the key is for: everything in /v2, lookups and alts, sessions and single lookups, these and " +
      "sessions that name a player, or everything in /v2 and to manage communities (default: full)",
  ),
);

export const limitFlags = {
  perWindow: countFlag("per-window").pipe(
    Flag.withDescription("Requests per window; 0 for no limit. Limits that are not set come from the tier"),
    Flag.optional,
  ),
  windowMs: durationFlag("window").pipe(Flag.withDescription("Length of the window"), Flag.optional),
  daily: countFlag("daily").pipe(Flag.withDescription("Requests per UTC day; 0 for no limit"), Flag.optional),
  verifyDaily: countFlag("verify-daily").pipe(
    Flag.withDescription("Verification requests per UTC day; 0 for no limit"),
    Flag.optional,
  ),
  unlimited: switchFlag("unlimited", "No limits at all"),
};

/**
 * The flags for the lists of a key: networks that may use the key, networks that may not use it, and origins to which
 * its verification flows may redirect.
 */
export const listFlags = {
  allowIps: networksFlag("allow-ip", "Network that may use the key (default: every network)"),
  denyIps: networksFlag("deny-ip", "Network that may not use the key; wins over --allow-ip"),
  redirectOrigins: textFlag("redirect-origin", isOrigin, 'an origin such as "https://example.com"').pipe(
    Flag.withMetavar("origin"),
    Flag.withDescription("Origin that a verification flow may redirect to; can be repeated"),
    Flag.atLeast(0),
  ),
};

type LimitChoice = Command.Command.Config.Infer<typeof limitFlags>;

const numbersOf = ({ perWindow, windowMs, daily, verifyDaily }: LimitChoice) =>
  Record.getSomes({ perWindow, windowMs, daily, verifyDaily });

/** The chosen limits: "none" for unlimited use, an empty object if no limit was chosen. */
export const limitsOf = (choice: LimitChoice): KeyLimits => (choice.unlimited ? "none" : numbersOf(choice));

export const checkLimits = (choice: LimitChoice) =>
  choice.unlimited && Object.keys(numbersOf(choice)).length > 0
    ? refuse("--unlimited takes no other limit beside it")
    : Effect.void;

export const checkEnd = (expires: Option.Option<number>, now: number, doing: string) =>
  Option.exists(expires, (end) => end <= now)
    ? new CommandFailed({ problem: `Cannot ${doing}: --expires is in the past, expected a future time` })
    : Effect.void;
