/** The simulated deployment of a run: its nodes, the stores that they share, and a log of the events, the `story`. */
import { type ApiKey, ChatId, GuildId, KeyId, Pid } from "@accountlink/core";
import { type MemberRole, MemberStore } from "@accountlink/core/accounts";
import { KeyStore, type ScopeSettings } from "@accountlink/core/keys";
import { makeKey } from "@accountlink/testing";
import { Chance, Postgres, Process, Redis, World } from "@accountlink/testing/simulation";
import { Context, Effect } from "effect";
import { Guild } from "./guild.ts";
import { keyHash, Node, sealWebhookSecret } from "./node.ts";
import { ageOfOld, chatIds, origin, secondGuild, team, unlinkedChatIds } from "./people.ts";
import { Receiver } from "./receiver.ts";

/** The time from a failed start of a node to the next attempt, in milliseconds. */
const startInterval = 500;

export type KeyChoice = Partial<Pick<ApiKey, "kind" | "limits" | "tier">>;

/** The community of most clients, and another one in which members prove accounts. */
export const scopes = {
  main: { kind: "global", pid: Pid.make("pid_00000000000000000001"), account: "acme" },
  elsewhere: { kind: "global", pid: Pid.make("pid_00000000000000000002"), account: "club" },
} as const;
export type Place = keyof typeof scopes;

/** The other community of the account that has the main one. Its team has members of one of them alone. */
export const second = {
  kind: "guild",
  guildId: GuildId.make(secondGuild),
  pid: Pid.make("pid_00000000000000000003"),
  account: scopes.main.account,
} as const;

/** The communities of which a member of the team is. */
export type Reach = "main" | "second" | "both";

export const pidsOf = (reach: Reach): ReadonlyArray<Pid> =>
  reach === "both" ? [scopes.main.pid, second.pid] : [{ main: scopes.main, second }[reach].pid];

export interface Happened {
  readonly kind: string;
  readonly node: number;
  readonly from: number;
  readonly to: number;
}

export class Deployment {
  readonly world: World;
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly receiver: Receiver;
  readonly guild: Guild;
  readonly outside: Process;
  /** The current process of each node. */
  readonly nodes: Array<Node> = [];
  readonly story: Array<string> = [];
  readonly faults: Array<Happened> = [];
  /** How many requests had each outcome, and how often each kind of fault happened. */
  readonly counts = new Map<string, number>();
  hasWebhook = false;
  /** The communities of which each member of the team is at first. */
  readonly reaches = new Map<string, Reach>();
  /** The minimum ages of the community `main`, and whether it asks for a proof of its own. */
  readonly admission: Pick<ScopeSettings, "freshProof" | "minChatAgeDays" | "minGameAgeDays">;
  /** Draws what the world is like, so that it stays the same with another order of events. */
  readonly #chance: Chance;
  #lastGame = 0;
  #lastKey = 0;

  readonly #isTold: boolean;

  constructor(seed: number, nodes: number, isTold: boolean) {
    this.#isTold = isTold;
    this.world = new World(seed);
    this.outside = new Process(this.world, "outside");
    this.postgres = new Postgres(this.world);
    this.redis = new Redis(this.world);
    this.receiver = new Receiver(this.world, this.outside);
    this.#chance = new Chance(seed);
    this.admission = {
      freshProof: this.#chance.happens(0.2),
      minChatAgeDays: this.#chance.happens(0.1) ? ageOfOld : null,
      minGameAgeDays: this.#chance.happens(0.2) ? ageOfOld : null,
    };
    this.guild = new Guild(this.world, this.outside, [...chatIds, ...unlinkedChatIds], this.#chance);
    const store = Context.get(this.postgres.ports, KeyStore);
    for (const { account, pid } of Object.values(scopes)) {
      this.#prepare(store.ensureAccount({ name: account, chatId: null, tier: "premium" }));
      this.#prepare(store.ensureScope(account, { kind: "global" }, pid));
    }
    const settings = { ...origin, pid: scopes.main.pid, at: this.outside.currentTimeMillisUnsafe() };
    this.#prepare(store.updateSettings({ ...settings, update: this.admission }));
    for (let index = 0; index < nodes; index++) this.nodes.push(this.#newNode(index));
  }

  get now(): number {
    return this.world.now;
  }

  tell(who: string, what: () => string): void {
    if (this.#isTold) this.story.push(`${this.now.toFixed(2).padStart(10)}  ${who.padEnd(10)}  ${what()}`);
  }

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  restart(index: number): void {
    if (this.nodes[index]?.state === "dead") this.nodes[index] = this.#newNode(index);
  }

  #newNode(index: number): Node {
    const name = `node ${index + 1}`;
    return new Node(this.world, name, this, () => {
      this.tell(name, () => "cannot start");
      this.world.after(startInterval, this.outside, () => this.restart(index));
    });
  }

  /** Gives the account of the main community a second one, and a team: an owner, a moderator and an admin. */
  addTeam(): void {
    if (this.reaches.size > 0) return;
    const { guildId, pid, account } = second;
    const keys = Context.get(this.postgres.ports, KeyStore);
    this.#prepare(keys.ensureScope(account, { kind: "guild", guildId }, pid));
    const store = Context.get(this.postgres.ports, MemberStore);
    const add = (chatId: string, role: MemberRole, of: ReadonlyArray<Pid> | null) => {
      const change = { type: "add", chatId: ChatId.make(chatId), role, scopes: of } as const;
      const at = this.outside.currentTimeMillisUnsafe();
      this.#prepare(store.change({ ...origin, account, change, at }));
    };
    add(team.owner, "owner", null);
    for (const [index, member] of team.members.entries()) {
      const reach = this.#chance.pick(["main", "second", "both"] as const);
      this.reaches.set(member, reach);
      add(member, index === 0 ? "moderator" : "admin", pidsOf(reach));
    }
  }

  /** Returns a game user that no chat user has been linked to. */
  newGame(): string {
    return String(++this.#lastGame);
  }

  /** The few chat users for which the clients compete. */
  get chatIds(): ReadonlyArray<string> {
    return chatIds;
  }

  newKey(choice: KeyChoice, place: Place = "main"): string {
    const id = `Key${String(++this.#lastKey).padStart(9, "0")}`;
    const token = `alk_${id}_${"k".repeat(43)}`;
    const key = makeKey(scopes[place], {
      id: KeyId.make(id),
      tier: "premium",
      kind: "partner",
      limits: "none",
      createdAt: this.outside.currentTimeMillisUnsafe(),
      ...choice,
    });
    const store = Context.get(this.postgres.ports, KeyStore);
    const hash = this.#prepare(keyHash(token));
    this.#prepare(store.insertKey({ ...origin, key, hash, maxKeys: null, at: key.createdAt }));
    return token;
  }

  addWebhook(): void {
    if (this.hasWebhook) return;
    this.hasWebhook = true;
    this.#prepare(this.receiver.register(scopes.main, this.postgres.ports, sealWebhookSecret));
  }

  addPlan(): void {
    if (this.guild.settings !== null) return;
    this.#prepare(this.guild.plan(scopes.main, this.postgres.ports, this.#chance));
  }

  #prepare<A, E>(effect: Effect.Effect<A, E>): A {
    return Effect.runSyncWith(this.outside.context)(effect);
  }
}
