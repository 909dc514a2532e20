/** Calls and options of the library from plain JavaScript, with arbitrary values. */
import { SessionSettings } from "@accountlink/core";
import { Limits } from "@accountlink/core/limits";
import { isProof } from "@accountlink/test-servers";
import { createAccountLink, InvalidOptions, type InvalidParameter, UnreadableLinkFile } from "accountlink";
import * as FastCheck from "fast-check";
import { expect, it } from "vitest";

const rounds = isProof ? 2_000 : 100;

const junk = FastCheck.oneof(
  FastCheck.constantFrom(undefined, null, "", "100001", "1", "acme", "\0", "500", "none", true),
  FastCheck.constantFrom(-1, 0, 1, 1.5, 2 ** 60, NaN, Infinity),
  FastCheck.anything({ withBigInt: true, withDate: true, withSparseArray: true, maxDepth: 2 }),
);

/** An object whose fields are among the known ones, with arbitrary values. */
const someFields = (names: ReadonlyArray<string>) =>
  FastCheck.dictionary(FastCheck.constantFrom(...names), junk, { maxKeys: 3 });

const fieldNames =
  `name tier kind access expiresAt limits allowIps denyIps redirectOrigins guildId actor resolved
  status clientId chatId gameId redirect within note action keyId before cursor from types url
  description limit graceSeconds rules nickname state format onConflict dryRun strict ignoreColumns
  unclearTimes verifiedWords address`.split(/\s+/);
const someLimits = FastCheck.dictionary(
  FastCheck.constantFrom("perWindow", "windowMs", "daily", "verifyDaily"),
  junk,
);
const argument = FastCheck.oneof(
  junk,
  someFields(fieldNames),
  FastCheck.record({ name: FastCheck.constant("bot"), limits: FastCheck.oneof(junk, someLimits) }),
);
const services = "links keys sessions alts audit events webhooks roles accounts users".split(" ");
const call = FastCheck.tuple(
  FastCheck.constantFrom(...services),
  FastCheck.nat(),
  FastCheck.array(argument, { minLength: 0, maxLength: 4 }),
);

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code ?? error;

it("every method answers arbitrary arguments with a typed error, and stores nothing that later calls cannot read", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  const methods = al as unknown as Record<
    string,
    Record<string, (...args: ReadonlyArray<unknown>) => unknown>
  >;
  const outcomeOf = async (service: string, method: string, args: ReadonlyArray<unknown>) => {
    try {
      const answer: unknown = methods[service]?.[method]?.(...args);
      if (answer instanceof Promise) return await answer.then(() => "done", codeOf);
      const [first] = [(answer as AsyncIterable<unknown>)[Symbol.asyncIterator]()];
      const ended = first.next().then(() => "done", codeOf);
      // A stream without an end, such as the feed of events, has nothing to report.
      const waits = new Promise((resolve) => setImmediate(() => setImmediate(resolve, "waits")));
      return await Promise.race([ended, waits]);
    } catch (error) {
      return error;
    }
  };
  try {
    await FastCheck.assert(
      FastCheck.asyncProperty(call, async ([service, index, args]) => {
        const names = Object.keys(methods[service] ?? {});
        const method = names[index % names.length] ?? "";
        const outcome = await outcomeOf(service, method, args);
        expect([
          service,
          method,
          typeof outcome === "string" ? outcome : `thrown: ${String(outcome)}`,
        ]).toEqual([service, method, expect.stringMatching(/^(done|waits|[A-Z_]+)$/)]);
        expect(outcome).not.toBe("INTERNAL_ERROR");
        for (const reader of ["keys", "webhooks", "accounts"]) {
          expect(await outcomeOf(reader, "list", [])).toBe("done");
        }
      }),
      { numRuns: rounds },
    );
  } finally {
    await al.close();
  }
});

it.each([{ daily: "500" }, { daily: null }, { daily: -1 }, { daily: 1.5 }, null, "500"])(
  "a key with the limits %o is refused, and the error names the field",
  async (limits) => {
    const al = await createAccountLink({ gameUserExists: () => true });
    const refused = al.keys.create({ name: "bot", limits: limits as never });
    await expect(refused).rejects.toMatchObject({
      code: "INVALID_PARAMETER",
      details: { parameters: [{ name: expect.stringMatching(/^limits(\.daily)?$/) }] },
    });
    expect(await al.keys.list()).toEqual([]);
    await al.close();
  },
);

it("fields that are undefined count as left out", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  const file = {
    async *[Symbol.asyncIterator]() {
      yield new TextEncoder().encode("chatId,gameId\n100001,1\n");
    },
  };
  const options = { onConflict: undefined, format: undefined, actor: undefined } as never;
  expect(await al.links.import(file, options)).toMatchObject({ inserted: 1 });
  const { key } = await al.keys.create({ name: "bot", expiresAt: undefined } as never);
  expect(await al.keys.update(key.id, { name: undefined } as never)).toMatchObject({ name: "bot" });
  await al.close();
});

it("an import reads unclear dates by the others of a file that it can read again, or as it is told", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  const text = "chatId,gameId,lastVerifiedAt\n100001,1,04/05/2021\n100002,2,28/05/2021\n";
  const file = async function* () {
    yield new TextEncoder().encode(text);
  };
  await expect(al.links.import(file())).rejects.toMatchObject({
    unclearTimes: [{ column: "lastVerifiedAt", time: "04/05/2021", isDate: true, rows: 1 }],
  });
  const verified = async () => (await al.links.verification("100001")).lastVerifiedAt;
  await al.links.import(file);
  expect(await verified()).toBe(Date.parse("2021-05-04"));
  await al.links.import(file, { unclearTimes: "month-first", onConflict: "replace" });
  expect(await verified()).toBe(Date.parse("2021-04-05"));
  await al.close();
});

it("an import takes the choices for words that do not say whether a link was verified", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  const file = async function* () {
    yield new TextEncoder().encode("chatId,gameId,verified\n100001,1,maybe\n100002,2,yes\n");
  };
  await expect(al.links.import(file)).rejects.toBeInstanceOf(UnreadableLinkFile);
  expect(await al.links.import(file, { verifiedWords: { maybe: "no" } })).toMatchObject({ inserted: 1 });
  await al.close();
});

const some = (names: ReadonlyArray<string>, value = junk) =>
  FastCheck.dictionary(FastCheck.constantFrom(...names, "unknown"), value, { maxKeys: 4 });

const scopes = some(["account", "guildId", "tier"]);
const tierLimits = some(Object.keys(Limits.defaultValue().free), FastCheck.oneof(junk, FastCheck.nat(5)));
const arbitraries = {
  storage: junk,
  secret: FastCheck.oneof(junk, FastCheck.array(FastCheck.uint8Array({ maxLength: 40 }), { maxLength: 3 })),
  scope: FastCheck.oneof(junk, scopes),
  redirectOrigins: FastCheck.oneof(junk, FastCheck.array(junk, { maxLength: 2 })),
  http: FastCheck.oneof(
    junk,
    some(["publicUrl", "basePath", "clientAddress", "trustedProxies", "metrics", "pages"]),
  ),
  webhooks: junk,
  logLevel: junk,
  limits: FastCheck.oneof(junk, some(["free", "premium", "address"], FastCheck.oneof(junk, tierLimits))),
  sessions: FastCheck.oneof(junk, some(Object.keys(SessionSettings.defaultValue()))),
  languages: FastCheck.oneof(
    junk,
    some(["en", "de"], FastCheck.oneof(junk, some(["go.title", "flow.help"]))),
  ),
  platforms: junk,
  gameUserExists: FastCheck.oneof(junk, FastCheck.func(FastCheck.boolean())),
  gameProfile: FastCheck.oneof(junk, FastCheck.func(junk)),
  guild: FastCheck.oneof(junk, FastCheck.func(junk)),
  unknown: junk,
};
const names = Object.keys(arbitraries) as ReadonlyArray<keyof typeof arbitraries>;
const option = FastCheck.constantFrom(...names).chain((name) =>
  FastCheck.tuple(FastCheck.constant(name), arbitraries[name]),
);
const options = FastCheck.array(option, { maxLength: 2 }).map((entries): object => ({
  gameUserExists: () => true,
  ...Object.fromEntries(entries),
}));

/** Opens a service with options and stores a link in it; returns the code of the write, or the problems. */
const outcomeOf = async (given: object): Promise<ReadonlyArray<string>> => {
  try {
    const al = await createAccountLink(given as never);
    const code = await al.links.set("100001", "1").then(
      () => "works",
      (error: { readonly code: string }) => error.code,
    );
    await al.close();
    return [code];
  } catch (error) {
    if (error instanceof InvalidOptions) return error.problems;
    throw error;
  }
};

it("createAccountLink works with arbitrary options, or names the wrong ones", async () => {
  const seen = { works: 0, refused: 0 };
  const named = new RegExp(
    `^(works|INVALID_PARAMETER|FORBIDDEN|PLATFORM_UNAVAILABLE|(${names.join("|")})\\b.*)$`,
    "su",
  );
  await FastCheck.assert(
    FastCheck.asyncProperty(options, async (given) => {
      const outcome = await outcomeOf(given);
      for (const each of outcome) expect(each).toMatch(named);
      seen[outcome[0] === "works" ? "works" : "refused"] += 1;
    }),
    { numRuns: rounds, examples: [[{ gameUserExists: () => true, http: { publicUrl: "acme" } }]] },
  );
  expect(Math.min(seen.works, seen.refused)).toBeGreaterThan(rounds / 20);
});

it("a scope opens for an arbitrary choice, or the error names the wrong field", async () => {
  const al = await createAccountLink({ gameUserExists: () => true });
  await FastCheck.assert(
    FastCheck.asyncProperty(FastCheck.oneof(junk, scopes), async (choice) => {
      const wrong = await al.scope(choice as never).then(
        ({ keys }) => keys.list().then(() => "none"),
        (error: InvalidParameter) => error.parameters[0]?.name,
      );
      expect(["none", "scope", ...Object.keys(Object(choice))]).toContain(wrong);
      expect(await al.accounts.list()).toBeInstanceOf(Array);
    }),
    { numRuns: rounds },
  );
  await al.close();
});
