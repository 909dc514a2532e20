import { withResolvers } from "@accountlink/test-servers";
import { describe, expect, it, vi } from "vitest";
import { AccountLinkClosed, Conflict, createAccountLink, InvalidParameter, SessionNotFound } from "./mod.ts";
import { collect, platforms, type TestService } from "./test_service.ts";

export const sessionsApiSuite = (service: () => TestService): void => {
  describe("sessions", () => {
    it("lets several callers read, wait for and watch a session without limits", async () => {
      const { al, other } = service();
      const { sid, ...created } = await al.sessions.create({
        clientId: "one",
        chatId: "100001",
        redirect: "https://example.com/done",
      });
      expect(created).toMatchObject({
        state: "pending",
        chatId: "100001",
        url: `https://links.example/links/verify?sid=${sid}`,
      });
      for (let read = 0; read < 3; read++)
        expect(await al.sessions.get(sid)).toMatchObject({ state: "pending" });
      expect(await al.sessions.wait(sid, { within: 1 })).toMatchObject({ state: "pending" });
      const waiting = [al.sessions.wait(sid), other.sessions.wait(sid)];
      const watched = collect(al.sessions.watch(sid));
      expect(await other.sessions.cancel(sid)).toMatchObject({ state: "cancelled" });
      expect(await Promise.all(waiting)).toMatchObject([{ state: "cancelled" }, { state: "cancelled" }]);
      expect((await watched).at(-1)?.state).toBe("cancelled");
      await expect(al.sessions.cancel(sid)).rejects.toBeInstanceOf(Conflict);
      const evil = { clientId: "one", redirect: "https://evil.example/" };
      await expect(al.sessions.create(evil)).rejects.toBeInstanceOf(InvalidParameter);
    });

    it("expires a session", async () => {
      const brief = await createAccountLink({ ...platforms, sessions: { life: 1 } });
      const { sid } = await brief.sessions.create({ clientId: "one" });
      expect(await brief.sessions.wait(sid)).toMatchObject({ state: "expired" });
      await brief.close();
    });

    it("hides sessions from another scope", async () => {
      const { al, newScope } = service();
      const { sid } = await al.sessions.create({ clientId: "one" });
      const { sessions } = await newScope();
      expect(await sessions.get(sid)).toBeNull();
      await expect(sessions.wait(sid)).rejects.toBeInstanceOf(SessionNotFound);
      await expect(sessions.cancel("x")).rejects.toBeInstanceOf(SessionNotFound);
      await expect(collect(sessions.watch(sid))).rejects.toBeInstanceOf(SessionNotFound);
    });
  });

  describe("events", () => {
    it("sends events to every process in order, until it unsubscribes", async () => {
      const { al, other, newScope } = service();
      const { account, links } = await newScope();
      const logged = vi.spyOn(console, "log").mockReturnValue();
      const heard: Array<unknown> = [];
      const end = withResolvers<void>();
      const off = await other.on("linkChanged", async ({ scope, ...change }) => {
        if (scope.account !== account) return;
        heard.push(change);
        if (change.gameId === "9") end.resolve();
        if (heard.length === 1) throw new Error("a listener that fails");
      });

      await links.set("100060", "1");
      await links.set("100060", "1");
      await links.set("100060", "2");
      await links.move("100060", "100061");
      await links.delete("100061");
      await links.set("100062", "3");
      await al.users.erase("100062");
      await links.set("100063", "9");
      await end.promise;
      off();
      expect(logged.mock.calls.flat().join(" ")).toContain("a listener that fails");
      logged.mockRestore();
      expect(heard).toEqual([
        { chatId: "100060", gameId: "1", previousGameId: null },
        { chatId: "100060", gameId: "2", previousGameId: "1" },
        { chatId: "100060", gameId: null, previousGameId: "2" },
        { chatId: "100061", gameId: "2", previousGameId: null },
        { chatId: "100061", gameId: null, previousGameId: "2" },
        { chatId: "100062", gameId: "3", previousGameId: null },
        { chatId: "100062", gameId: null, previousGameId: "3" },
        { chatId: "100063", gameId: "9", previousGameId: null },
      ]);

      const deleted = withResolvers<string>();
      await other.on("linksDeleted", ({ scope }) => deleted.resolve(scope.account));
      await links.deleteAll();
      expect(await deleted.promise).toBe(account);
      expect(heard).toHaveLength(8);
    });
  });

  it("close rejects calls that wait and later calls", async () => {
    const { open } = service();
    const closing = await open();
    const { sid } = await closing.sessions.create({ clientId: "one" });
    const waiting = [closing.sessions.wait(sid), collect(closing.sessions.watch(sid))];
    const rejected = Promise.all(
      waiting.map((wait) => expect(wait).rejects.toBeInstanceOf(AccountLinkClosed)),
    );
    await closing.close();
    await rejected;
    await expect(closing.links.get("100001")).rejects.toBeInstanceOf(AccountLinkClosed);
    await expect(closing.fetch(new Request("http://localhost/"))).rejects.toBeInstanceOf(AccountLinkClosed);
    await closing.close();
  });
};
