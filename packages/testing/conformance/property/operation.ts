/** Operations of ports with random inputs. An input is data, so that a failure can print it. */
import {
  AuditLog,
  type Conflict,
  type DataScope,
  EventStore,
  LinkStore,
  type Pid,
  type StoreUnavailable,
} from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { BlockStore } from "@accountlink/core/admission";
import { AltReviewStore, SightingStore, SuspectStore } from "@accountlink/core/alts";
import type { WriteContext } from "@accountlink/core/audit";
import { type CommunityPlace, CommunityStore } from "@accountlink/core/communities";
import { FlowStore } from "@accountlink/core/flow";
import { GuildLogStore } from "@accountlink/core/guild_log";
import { IdempotencyStore } from "@accountlink/core/idempotency";
import { ImportStore, UploadStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { DayCounts } from "@accountlink/core/limits";
import { ReminderStore } from "@accountlink/core/reminders";
import { PlanNoticeStore, PreviewStore, RoleHistoryStore, RolePlanStore } from "@accountlink/core/roles";
import { RootKeyStore } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import type { SettingRows } from "@accountlink/core/settings";
import { SignInStore } from "@accountlink/core/sign_ins";
import type { Millis } from "@accountlink/core/timestamp";
import { UpgradeStore } from "@accountlink/core/upgrades";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { WebhookStore } from "@accountlink/core/webhooks";
import { Effect, Record, Schema } from "effect";
import * as FastCheck from "fast-check";
import { origin, type ScopeName } from "../scopes.ts";
import { type CommandSubjects, nth } from "./subjects.ts";

export const storePorts = {
  links: LinkStore,
  imports: ImportStore,
  uploads: UploadStore,
  keys: KeyStore,
  members: MemberStore,
  log: AuditLog,
  sessions: SessionStore,
  flows: FlowStore,
  dayCounts: DayCounts,
  rootKeys: RootKeyStore,
  sightings: SightingStore,
  reviews: AltReviewStore,
  suspects: SuspectStore,
  blocks: BlockStore,
  signIns: SignInStore,
  idempotency: IdempotencyStore,
  userStore: UserStore,
  usage: UsageStore,
  events: EventStore,
  webhooks: WebhookStore,
  communities: CommunityStore,
  plans: RolePlanStore,
  roleHistory: RoleHistoryStore,
  previews: PreviewStore,
  notices: PlanNoticeStore,
  logs: GuildLogStore,
  reminders: ReminderStore,
  upgrades: UpgradeStore,
};

export const ports = Effect.all(storePorts);

export type Ports = Effect.Success<typeof ports>;

/** The ports and subjects, with the scope, community and time of one command. */
export type World = CommandSubjects &
  Ports & {
    readonly scope: DataScope;
    readonly pid: Pid;
    /** The community of the command in the scope. */
    readonly place: CommunityPlace;
    readonly write: WriteContext;
  };

interface Place {
  readonly scope?: ScopeName;
  readonly at?: Millis;
  /** The index of a guild. */
  readonly guild?: number;
}

export const worldOf = (subjects: CommandSubjects, input: object) =>
  Effect.map(ports, (all): World => {
    const { scope: name = "global", at = 0, guild = 0 }: Place = input;
    const scope = subjects[name];
    const { pid } = scope;
    const place = { pid, guildId: nth(subjects.guildIds, guild) };
    return { ...all, ...subjects, scope, pid, place, write: { ...origin, pid, at } };
  });

export interface Operation<Input> {
  /** How often sequences contain this operation, relative to others. */
  readonly weight: number;
  readonly input: FastCheck.Arbitrary<Input>;
  readonly run: (world: World, input: Input) => Effect.Effect<unknown, Conflict | StoreUnavailable>;
}

/** An operation on the scope `scope` at the time `at`, which are global and 0 by default, and on its community `guild`. */
export const operation = <Input extends object>(
  weight: number,
  fields: { readonly [Name in keyof Input]: FastCheck.Arbitrary<Input[Name]> },
  run: Operation<Input>["run"],
): Operation<Input> => ({ weight, input: FastCheck.record(fields) as FastCheck.Arbitrary<Input>, run });

/** Values that settings have. */
const settingValues = [null, true, false, 0, 1, 30, "70", "71", "https://club.example/"] as const;

/** Random changes of settings, to each value that the schema of their row admits. */
export const updateOf = <Rows extends SettingRows>(rows: Rows) =>
  FastCheck.record(
    Record.map(rows, ({ schema }) => FastCheck.constantFrom(...settingValues.filter(Schema.is(schema)))),
    { requiredKeys: [] },
  ) as FastCheck.Arbitrary<{ readonly [Name in keyof Rows]?: Rows[Name]["schema"]["Type"] }>;

/** An operation that random sequences leave out; the suite of outages runs it. */
export const fixed = (run: (world: World) => Effect.Effect<unknown, Conflict | StoreUnavailable>) =>
  operation(0, {}, run);

export type OperationsOf<Port extends string, Shape> = {
  readonly [Name in keyof Shape as `${Port}.${Name & string}`]: unknown;
};

const { constant, constantFrom, nat, oneof, option } = FastCheck;

export const scope = constantFrom<ScopeName>("global", "guild");
/** Few distinct times, so that many commands have the same time. */
export const at = nat(3);
/** The index of one of three subjects. */
export const index = nat(2);

/** Mostly one value, so that commands often affect each other. */
export const mostly = <A>(usual: A, ...others: ReadonlyArray<A>): FastCheck.Arbitrary<A> =>
  oneof({ weight: 3, arbitrary: constant(usual) }, { weight: 1, arbitrary: constantFrom(...others) });

/** The fields of an operation on a community. */
export const community = { scope: mostly<ScopeName>("global", "guild"), guild: mostly(0, 1) };

/** A value, or null in half of the cases. */
export const maybe = <A>(value: FastCheck.Arbitrary<A>) => option(value, { freq: 2 });
