/** Calls of the library from plain JavaScript, with arbitrary arguments. */
import { createAccountLink } from "accountlink";
import * as FastCheck from "fast-check";
import { expect, it } from "vitest";

const junk = FastCheck.oneof(
  FastCheck.constantFrom(undefined, null, "", "100001", "1", -1, 0, 1.5, "500", NaN, Infinity, true, "none"),
  FastCheck.anything({ withBigInt: true, withDate: true, withSparseArray: true, maxDepth: 2 }),
);

/** An object whose fields are among the known ones, with arbitrary values. */
const someFields = (names: ReadonlyArray<string>) =>
  FastCheck.dictionary(FastCheck.constantFrom(...names), junk, { maxKeys: 3 });

const fieldNames = [
  "name",
  "tier",
  "kind",
  "access",
  "expiresAt",
  "limits",
  "allowIps",
  "denyIps",
  "redirectOrigins",
  "guildId",
  "actor",
  "resolved",
  "status",
  "clientId",
  "chatId",
  "gameId",
  "redirect",
  "within",
  "note",
  "action",
  "keyId",
  "before",
  "cursor",
  "from",
  "types",
  "url",
  "description",
  "limit",
  "graceSeconds",
  "rules",
  "nickname",
  "state",
  "format",
  "onConflict",
  "dryRun",
  "strict",
  "ignoreColumns",
  "address",
];
const someLimits = FastCheck.dictionary(
  FastCheck.constantFrom("perWindow", "windowMs", "daily", "verifyDaily"),
  junk,
);
const argument = FastCheck.oneof(
  junk,
  someFields(fieldNames),
  FastCheck.record({ name: FastCheck.constant("bot"), limits: FastCheck.oneof(junk, someLimits) }),
);
const services = [
  "links",
  "keys",
  "sessions",
  "alts",
  "audit",
  "events",
  "webhooks",
  "roles",
  "accounts",
  "users",
];
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
      const outcome = await Promise.race([ended, waits]);
      return outcome;
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
        for (const [reader, list] of [
          ["keys", "list"],
          ["webhooks", "list"],
          ["accounts", "list"],
        ] as const) {
          expect(await outcomeOf(reader, list, [])).toBe("done");
        }
      }),
      { numRuns: 2_000 },
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
