import { StorageUse } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { PlatformRefusals } from "@accountlink/core/platforms";
import {
  MemberSync,
  makePlanPreviews,
  type PlanPreview,
  RoleHistoryStore,
  type RolePlan,
  RolePlanStore,
  reversalState,
  shownPreview,
  templatesOf,
} from "@accountlink/core/roles";
import { timeOrNull } from "@accountlink/core/timestamp";
import { Effect, Layer, Option, Schedule } from "effect";
import { switchFlag } from "../cli/flags.ts";
import { answer, countOf } from "../cli/output.ts";
import { progressBar } from "../cli/progress.ts";
import { CommandFailed } from "../cli/report.ts";
import type { Config } from "../config/config.ts";
import { cacheOf, resolveConfig } from "../config/resolved_config.ts";
import { readStartupFixture } from "../fixture/startup_fixture.ts";
import { platformLayer } from "../layers/platform_layer.ts";
import { refuseCache } from "../layers/store_layers.ts";
import { describe, single } from "./command.ts";
import { type OpenedStorage, openStorage, servicesOn } from "./management_layer.ts";

/** The platforms that the server would ask, for comparisons that change nothing. */
const comparing = Effect.fnUntraced(function* ({ config }: OpenedStorage) {
  const resolved = yield* resolveConfig(config);
  const { platform } = resolved;
  if (platform.kind === "none") return null;
  const fixture = yield* readStartupFixture(resolved);
  // The port of the dev platform may be the running server's.
  const own = platform.kind === "dev" ? { ...platform, port: 0 } : platform;
  return MemberSync.layer.pipe(
    Layer.provideMerge(PlatformRefusals.layer),
    Layer.provideMerge(platformLayer(own, fixture, config.ACCOUNTLINK_PUBLIC_URL ?? "http://127.0.0.1")),
  );
});

/** Fails if a resume would, for what can be judged before anything is written. */
export const refuseResume = Effect.fnUntraced(function* (config: Config) {
  yield* Effect.flatMap(cacheOf(config), refuseCache);
  yield* readStartupFixture(yield* resolveConfig(config));
});

const plansThatAreOn = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const plans = yield* RolePlanStore;
  const accounts = yield* keys.listAccounts();
  const scopes = yield* Effect.forEach(accounts, ({ name }) => keys.listScopes(name));
  const found = yield* Effect.forEach(scopes.flat(), ({ scope }) => plans.list(scope.pid));
  return found.flat().filter(({ state }) => state === "on");
});

/** The roles that go on being given back, or taken because no rule names them any more. */
const reversalsThatGoOn = Effect.gen(function* () {
  const history = yield* RoleHistoryStore;
  const plans = yield* RolePlanStore;
  const keys = yield* KeyStore;
  const going = yield* Effect.filter(yield* history.reversals(null), (reversal) =>
    Effect.map(reversalState(plans, reversal), (state) => state === "goes on"),
  );
  return yield* Effect.forEach(going, ({ pid, guildId, roleId, change, at }) =>
    Effect.gen(function* () {
      const found = Option.getOrNull(yield* keys.findScopeByPid(pid));
      const does = change === "took" ? ("give back" as const) : ("take" as const);
      const members = yield* history.count({ pid, guildId }, { roleId, change }, at);
      return { account: found?.scope.account ?? null, guildId, roleId, does, members };
    }),
  );
});

type Reversal = Effect.Success<typeof reversalsThatGoOn>[number];

/** The communities whose nicknames go on being put back, unless rules that are on would set them again. */
const nicknamesThatGoOn = Effect.gen(function* () {
  const plans = yield* RolePlanStore;
  const going = (yield* plans.puttingBack()).filter(
    (plan) => plan.state !== "on" || templatesOf(plan).length === 0,
  );
  return yield* Effect.forEach(going, ({ scope: { account, pid }, guildId }) =>
    Effect.map(plans.countNicknames({ pid, guildId }), (members) => ({ account, guildId, members })),
  );
});

type PutBack = Effect.Success<typeof nicknamesThatGoOn>[number];

const putBackLine = ({ account, guildId, members }: PutBack): string =>
  `guild ${guildId} of account "${account}": up to ${countOf(members, "nickname")} are put back, as the team asked before`;

const reversalLine = ({ account, guildId, roleId, does, members }: Reversal): string =>
  `guild ${guildId} of account "${account}": role ${roleId} is ${
    does === "take" ? "taken from" : "given back to"
  } up to ${countOf(members, "member")}, as the team asked before`;

type Told = ReturnType<typeof toldOf>;

/** How many members a sweep of the plan would change. */
const toldOf = (plan: RolePlan, preview: PlanPreview) => {
  const { roles, nicknames, unknown, done } = shownPreview(preview, plan.unlinked);
  return {
    account: plan.scope.account,
    guildId: plan.guildId,
    told: preview.state === "done",
    members: done,
    roles: roles.map(({ roleId, gained, lost }) => ({ roleId, gained, lost })),
    nicknames,
    unknown,
  };
};

const previewsOf = Effect.fnUntraced(function* (plans: ReadonlyArray<RolePlan>) {
  const { start, find } = yield* makePlanPreviews;
  const show = yield* progressBar();
  return yield* Effect.forEach(plans, (plan) =>
    Effect.gen(function* () {
      const place = { pid: plan.scope.pid, guildId: plan.guildId };
      const begun = yield* start(plan);
      const ended = yield* Effect.repeat(
        Effect.tap(
          Effect.map(find(place), (found) => found ?? begun),
          ({ done, total }) =>
            show({ doing: `comparing guild ${plan.guildId}`, done, total, unit: "members" }),
        ),
        { while: ({ state }) => state === "running", schedule: Schedule.spaced("500 millis") },
      );
      return toldOf(plan, ended);
    }),
  );
}, Effect.scoped);

const lineOf = ({ account, guildId, told, members, roles, nicknames, unknown }: Told): string => {
  const guild = `guild ${guildId} of account "${account}"`;
  if (!told)
    return `${guild}: cannot be compared, since the bot is not in it or the platform does not answer`;
  const changed = roles
    .filter(({ gained, lost }) => gained + lost > 0)
    .map(({ roleId, gained, lost }) => `role ${roleId}: ${lost} lose it, ${gained} get it`);
  const parts = [...changed, ...(nicknames === 0 ? [] : [`${countOf(nicknames, "nickname")} change`])];
  if (unknown > 0) parts.push(`${countOf(unknown, "member")} unknown`);
  return `${guild}, ${countOf(members, "member")}: ${parts.length === 0 ? "nothing changes" : parts.join("; ")}`;
};

const withoutPreview = switchFlag(
  "without-preview",
  "Resume without comparing the members of guilds with their role plans",
);

/** Ends the rest of a storage, after it was told what the role plans would change. */
export const resumeStorage = Effect.fnUntraced(function* (
  opened: OpenedStorage,
  { isCompared, isDry }: { readonly isCompared: boolean; readonly isDry: boolean },
) {
  const platforms = isCompared ? yield* comparing(opened) : null;
  const services = servicesOn(opened);
  return yield* Effect.gen(function* () {
    const use = yield* StorageUse;
    const rest = use.resting();
    const isTold = platforms !== null && rest !== null;
    const plans = isTold ? yield* plansThatAreOn : [];
    const told =
      platforms === null ? [] : yield* previewsOf(plans).pipe(Effect.provide(platforms), Effect.scoped);
    const reversals = isTold ? yield* reversalsThatGoOn : [];
    const nicknames = isTold ? yield* nicknamesThatGoOn : [];
    const lines = [...told.map(lineOf), ...reversals.map(reversalLine), ...nicknames.map(putBackLine)];
    const untold = told.filter((each) => !each.told);
    if (untold.length > 0 && !isDry) {
      return yield* new CommandFailed({
        notes: lines,
        problem: `Cannot resume: ${countOf(untold.length, "guild")} cannot be compared, expected an answer of the platform for each, or --without-preview`,
        details: { plans: told, reversals, nicknames },
      });
    }
    if (rest !== null && !isDry) yield* use.resume;
    return { rest, told: { plans: told, reversals, nicknames }, lines };
  }).pipe(Effect.provide(services));
});

export const resumeCommand = single(
  "resume",
  {
    withoutPreview,
    dryRun: switchFlag("dry-run", "Tell what would change, and let the storage rest on"),
  },
  function* ({ withoutPreview: isUntold, dryRun }) {
    const opened = yield* openStorage("refuse");
    const { rest, told, lines } = yield* resumeStorage(opened, { isCompared: !isUntold, isDry: dryRun });
    const { text, json } = opened.location;
    const outcome = rest === null ? "does not rest" : dryRun ? "rests" : "acts again";
    yield* answer(
      {
        ...json,
        resumed: rest !== null && !dryRun,
        restingSince: timeOrNull(rest?.since ?? null),
        ...told,
      },
      [...lines, `${text[0]?.toUpperCase()}${text.slice(1)} ${outcome}`].join("\n"),
    );
  },
).pipe(
  describe([
    "Let a storage that rests act again, also beside running servers. In a restored, copied or moved one, role " +
      "plans, reminders, log messages, webhooks and unfinished imports rest until then.",
    "First it tells what a sweep of each role plan would change, so that an old backup takes no roles unseen.",
  ]),
);
