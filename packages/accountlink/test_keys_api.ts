import { describe, expect, it } from "vitest";
import { InvalidParameter } from "./mod.ts";
import type { TestService } from "./test_service.ts";

export const keysApiSuite = (service: () => TestService): void => {
  describe("keys", () => {
    it("creates, lists, changes, rotates and revokes keys", async () => {
      const { newScope } = service();
      const { keys } = await newScope();
      const { key, token } = await keys.create({ name: "bot", access: "read" });
      expect(token).toMatch(new RegExp(`^alk_${key.id}_`));
      expect(await keys.list()).toMatchObject([{ id: key.id, name: "bot", access: "read", tier: "premium" }]);
      expect(await keys.update(key.id, { name: "the bot" })).toMatchObject({ name: "the bot" });
      const rotated = await keys.rotate(key.id, { graceSeconds: 60 });
      expect(rotated.token).not.toBe(token);
      expect(rotated.key.previousSecretEndsAt).not.toBeNull();
      expect(await keys.revoke(key.id, { actor: "ada" })).toMatchObject({ status: "revoked" });
      await expect(keys.rotate(key.id)).rejects.toMatchObject({ details: { reason: "key_revoked" } });
    });

    it("hides keys from another scope", async () => {
      const { al, newScope } = service();
      const { key } = await al.keys.create({ name: "mine" });
      const { keys } = await newScope();
      expect(await keys.get(key.id)).toBeNull();
      await expect(keys.revoke(key.id)).rejects.toBeInstanceOf(InvalidParameter);
      await expect(keys.get("x")).rejects.toBeInstanceOf(InvalidParameter);
    });
  });

  describe("accounts", () => {
    it("lists accounts, changes their tier, suspends and restores them", async () => {
      const { al } = service();
      const account = "an account";
      await al.scope({ account, tier: "free" });
      expect(await al.accounts.list()).toContainEqual({
        name: account,
        chatId: null,
        tier: "free",
        status: "active",
        operator: true,
      });
      expect(await al.accounts.setTier(account, "premium")).toMatchObject({ tier: "premium" });
      expect(await al.accounts.suspend(account)).toMatchObject({ status: "suspended" });
      const { sessions } = await al.scope({ account });
      await expect(sessions.create({ clientId: "one" })).rejects.toMatchObject({
        details: { reason: "account_suspended" },
      });
      expect(await al.accounts.restore(account)).toMatchObject({ status: "active" });
      await expect(al.accounts.suspend("nobody")).rejects.toBeInstanceOf(InvalidParameter);
    });
  });

  describe("alts", () => {
    it("finds alts from reviews, and deletes reviews", async () => {
      const { newScope } = service();
      const { alts } = await newScope();
      expect(await alts.review("100001", "100002", "same", { note: "told us" })).toMatchObject({
        note: "told us",
      });
      expect(await alts.reviews("100002")).toMatchObject([{ verdict: "same" }]);
      const { matches } = await alts.find({ chatId: "100001" });
      expect(matches.map(({ chatId }) => chatId)).toEqual(["100002"]);
      expect(await alts.deleteReview("100002", "100001")).toMatchObject({ deleted: true });
      expect((await alts.find({ chatId: "100001", address: "203.0.113.7" })).matches).toEqual([]);
      await expect(alts.find({})).rejects.toBeInstanceOf(InvalidParameter);
    });
  });
};
