import { describe, expect, it } from "vitest";
import { httpStatusOf, InternalError, InvalidParameter, PlatformUnavailable } from "./mod.ts";
import { collect, down, guildId, type TestService } from "./test_service.ts";

const reasonOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable("it resolved"),
    (reason: unknown) => reason,
  );

export const errorsApiSuite = (service: () => TestService): void => {
  describe("a call that fails", () => {
    it("names the received and the expected value", async () => {
      const { al } = service();
      const reason = await reasonOf(al.links.set("abc", "1"));
      expect(reason).toBeInstanceOf(InvalidParameter);
      expect(reason).toBeInstanceOf(Error);
      expect(reason).toMatchObject({
        code: "INVALID_PARAMETER",
        details: { parameters: [{ name: "chatId", reason: 'is "abc", expected 5 to 32 digits' }] },
      });
      expect(await reasonOf(al.links.get(undefined as never))).toMatchObject({
        details: {
          parameters: [{ name: "chatId", reason: "is of type undefined, expected 5 to 32 digits" }],
        },
      });
      expect(await reasonOf(al.links.set("100001", "100"))).toMatchObject({ code: "INVALID_PARAMETER" });
    });

    it("names an option that is unknown, since a misspelled guild would widen the call", async () => {
      const { al } = service();
      const wrong: object = { guild: guildId };
      const address = reasonOf(al.links.get("100001", "203.0.113.7" as never));
      // An error shows values of IDs alone.
      const expected = { parameters: [{ name: "options", reason: "expected an object" }] };
      expect(await address).toMatchObject({ details: expected });
      for (const [name, reason] of [
        ["allowIps", "expected a list"],
        ["limits", 'expected "none" or an object of limits'],
      ] as const) {
        const refused = await reasonOf(al.keys.create({ name: "bot", [name]: "203.0.113.7" }));
        expect(refused).toMatchObject({ details: { parameters: [{ name, reason }] } });
      }
      const calls = [
        al.links.set("100001", "1", wrong),
        al.sessions.create({ clientId: "one", ...wrong }),
        al.keys.create(wrong),
        collect(al.audit.entries(wrong)),
      ];
      for (const call of calls) {
        const reason: unknown = expect.stringMatching(/^is unknown, expected one of \w+/);
        expect(await reasonOf(call)).toMatchObject({ details: { parameters: [{ name: "guild", reason }] } });
      }
    });

    it("answers 503 if a platform is unavailable", async () => {
      const { al } = service();
      const reason = await reasonOf(al.links.set("100001", down));
      expect(reason).toBeInstanceOf(PlatformUnavailable);
      expect(reason).toMatchObject({ cause: new Error("down") });
      expect(httpStatusOf(reason as PlatformUnavailable)).toBe(503);
    });

    it("wraps a bug in an InternalError", async () => {
      const { al } = service();
      const reason = await reasonOf(al.links.import(brokenFile));
      expect(reason).toBeInstanceOf(InternalError);
      expect(reason).toMatchObject({ code: "INTERNAL_ERROR", cause: expect.any(TypeError) });
    });

    it("rejects with the reason of its signal", async () => {
      const { al } = service();
      const { sid } = await al.sessions.create({ clientId: "one" });
      const abort = new AbortController();
      const waiting = reasonOf(al.sessions.wait(sid, { signal: abort.signal }));
      abort.abort("enough");
      expect(await waiting).toBe("enough");
      expect(await reasonOf(al.sessions.wait(sid, { signal: AbortSignal.abort("before") }))).toBe("before");
      const unsignalled: object = { signal: undefined };
      expect((await al.sessions.wait(sid, { within: 1, ...unsignalled })).state).toBe("pending");
    });
  });
};

const brokenFile = () => {
  throw new TypeError("broken");
};
