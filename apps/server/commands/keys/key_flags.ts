import type { KeyLimits } from "@accountlink/core/limits";
import { DashboardKeys } from "@accountlink/http-api";
import { Effect, Option, Record } from "effect";
import { type Command, Flag } from "effect/cli";
import { entryFlag, fieldFlag } from "../../cli/field_flags.ts";
import { countFlag, durationFlag, refuse, switchFlag } from "../../cli/flags.ts";
import { CommandFailed } from "../../cli/report.ts";

const fields = DashboardKeys.patchKey.parameters;

export const accessFlag = fieldFlag("access", fields.access);

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

export const listFlags = {
  allowIps: entryFlag("allow-ip", fields.allowIps),
  denyIps: entryFlag("deny-ip", fields.denyIps),
  redirectOrigins: entryFlag("redirect-origin", fields.redirectOrigins),
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
