/**
 * How often alt detection is right in a town whose people are known, by severity, with and without the list of shared
 * networks. An answer is right when an account of the same person is among its matches.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CacheMemory } from "@accountlink/cache-memory";
import {
  AccountLink,
  AddressVault,
  ApiKeys,
  type ChatId,
  type DataScope,
  type GameId,
  LinkStore,
} from "@accountlink/core";
import { parseAddress } from "@accountlink/core/addresses";
import { AltDetection, type AltReport } from "@accountlink/core/alts";
import { Secrets } from "@accountlink/core/secrets";
import { SessionStore } from "@accountlink/core/sessions";
import { NetworkFiles } from "@accountlink/networks";
import { PlatformMemory } from "@accountlink/platform-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { Effect, Layer, Option, Redacted } from "effect";
import { Aead, Digest, Kdf, Mac, SecureRandom } from "effect/crypto";
import { TestClock } from "effect/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDocument } from "../docs/document.ts";
import { scoreOf } from "../support/alt_score.ts";
import { makeTown, type TownAccount, townSharedNetworks, townTime, townVpnNetworks } from "./alts_town.ts";

const secret = Redacted.make(new Uint8Array(32).fill(7));

/** Alt detection over memory, with the lists. */
const detection = (sharedNetworks: string | null, vpnNetworks: string) =>
  AccountLink.layerAlts.pipe(
    Layer.provideMerge(AccountLink.layer),
    Layer.provideMerge(NetworkFiles.layer({ vpnNetworks, vpnDatabase: null, sharedNetworks }, [])),
    Layer.provideMerge(
      Layer.mergeAll(
        StorageMemory.layer,
        CacheMemory.layer,
        PlatformMemory.layer({ guilds: [], chatUsers: [], gameUsers: [] }),
        Secrets.layerWebCrypto(secret),
        AddressVault.layer(new Map([["town", secret]])),
      ),
    ),
    Layer.provideMerge(Layer.mergeAll(Aead.layerWebCrypto, Kdf.layerWebCrypto, Mac.layerWebCrypto)),
    Layer.provideMerge(Layer.merge(Digest.layerWebCrypto, SecureRandom.layerWebCrypto)),
  );

const fill = Effect.fnUntraced(function* (scope: DataScope, accounts: ReadonlyArray<TownAccount>) {
  const { protect } = yield* AddressVault;
  yield* (yield* LinkStore).importBatch({
    actor: { type: "operator", id: "town" },
    requestId: null,
    pid: scope.pid,
    at: townTime,
    links: accounts.map(({ chatId, gameId }) => ({
      chatId: chatId as ChatId,
      gameId: gameId as GameId,
      lastVerifiedAt: townTime,
    })),
    existing: "keep",
    progress: { source: "town", position: 1 },
  });
  const sightings = yield* Effect.forEach(
    accounts.flatMap(({ chatId, visits }) => visits.map((visit) => ({ chatId, ...visit }))),
    ({ chatId, address, seenAt }) =>
      Effect.map(protect(Option.getOrThrow(parseAddress(address))), (protectedAddress) => ({
        chatId: chatId as ChatId,
        address: protectedAddress,
        seenAt,
      })),
    { concurrency: 64 },
  );
  yield* (yield* SessionStore).recordSightings(scope.pid, sightings);
});

interface Answer {
  readonly report: AltReport;
  readonly isRight: boolean;
  /** Whether the account is one of two. */
  readonly isSecond: boolean;
}

const detectAll = Effect.fnUntraced(function* (accounts: ReadonlyArray<TownAccount>) {
  const keys = yield* ApiKeys;
  const scope = yield* keys.scopeOf({ name: "town", chatId: null, tier: "premium" }, { kind: "global" });
  yield* fill(scope, accounts);
  const alts = yield* AltDetection;
  const personOf = new Map(accounts.map(({ chatId, person }) => [chatId, person]));
  const ofPerson = Map.groupBy(accounts, ({ person }) => person);
  const options = { guildId: null, resolved: false, unknownMembers: "refuse" } as const;
  return yield* Effect.forEach(
    accounts,
    ({ chatId, person }) =>
      Effect.map(
        alts.detect(scope, { chatId: chatId as ChatId, gameId: null, address: null }, options),
        (report): Answer => ({
          report,
          isRight: report.matches.some((match) => personOf.get(match.chatId) === person),
          isSecond: (ofPerson.get(person)?.length ?? 0) > 1,
        }),
      ),
    { concurrency: 64 },
  );
});

const share = (part: number, whole: number): string => (whole === 0 ? "–" : (part / whole).toFixed(2));

/** Precision and recall of the answers with at least this score. */
const rate = (answers: ReadonlyArray<Answer>, least: number): string => {
  const reached = answers.filter(({ report }) => report.risk.score >= least);
  const right = reached.filter(({ isRight }) => isRight).length;
  const second = answers.filter(({ isSecond }) => isSecond).length;
  return `${share(right, reached.length)}, ${share(right, second)}`;
};

const hasGame = ({ report }: Answer): boolean =>
  report.matches.some(({ evidence }) => evidence.some(({ kind }) => kind === "game"));

/** The precision of the answers of HIGH or above, with a game in common and without. */
const precisionByReason = (answers: ReadonlyArray<Answer>): string =>
  [true, false]
    .map((withGame) => {
      const reached = answers.filter(
        (answer) => answer.report.risk.score >= 50 && hasGame(answer) === withGame,
      );
      return share(reached.filter(({ isRight }) => isRight).length, reached.length);
    })
    .join(" | ");

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "accountlink-town-"));
});
afterAll(() => rm(folder, { recursive: true }));

const write = async (name: string, networks: ReadonlyArray<string>): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, networks.join("\n"));
  return path;
};

test("alt detection in a town of 100,000 people is as right as its documentation says", async () => {
  const vpn = await write("vpn.txt", townVpnNetworks);
  const shared = await write("shared.txt", townSharedNetworks);
  const rows: Array<string> = [];
  for (const [members, membership] of [
    ["everybody", 1],
    ["1 in 50", 0.02],
  ] as const) {
    const accounts = makeTown(membership);
    for (const list of [null, shared]) {
      const answers = await Effect.runPromise(
        TestClock.setTime(townTime).pipe(
          Effect.andThen(Effect.provide(detectAll(accounts), detection(list, vpn))),
          Effect.provide(TestClock.layer()),
          Effect.scoped,
        ),
      );
      for (const { report } of answers) {
        const { score, severity, alt } = report.risk;
        expect(scoreOf(report)).toEqual({ score, severity, alt });
      }
      const rates = [75, 50, 25].map((least) => rate(answers, least)).join(" | ");
      const listed = list === null ? "no" : "yes";
      rows.push(`| ${members} | ${listed} | ${rates} | ${precisionByReason(answers)} |`);
    }
  }
  console.log(rows.join("\n"));
  const document = readDocument("docs/alts.md");
  for (const row of rows) expect(document).toContain(row);
});
