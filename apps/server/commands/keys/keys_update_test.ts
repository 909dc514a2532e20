import { expect, it } from "vitest";
import { makeWorkplace } from "../test_program.ts";

const words = (line: string) => line.trim().split(/\s+/);

it("`keys update` changes and clears each field of a key", async () => {
  const { json, run } = await makeWorkplace();
  const id = String((await json("keys", "create", "--account", "acme"))["id"]);
  const update = (line: string) => json("keys", "update", id, ...words(line));
  expect(
    await update(`--name bot --tier premium --kind partner --access verify --expires 2999-01-31 --daily 0
        --per-window 50 --allow-ip 10.0.0.0/8 --deny-ip 10.1.0.0/16 --redirect-origin https://example.com`),
  ).toMatchObject({
    changed: true,
    name: "bot",
    tier: "premium",
    kind: "partner",
    access: "verify",
    expiresAt: "2999-01-31T00:00:00.000Z",
    limits: { daily: 0, perWindow: 50 },
    allowIps: ["10.0.0.0/8"],
    denyIps: ["10.1.0.0/16"],
    redirectOrigins: ["https://example.com"],
  });
  expect(await update("--unlimited")).toMatchObject({ changed: true, limits: "none" });
  expect(await update("--unlimited")).toMatchObject({ changed: false });
  const all = "--clear expires --clear limits --clear allow-ip --clear deny-ip --clear redirect-origin";
  expect(await update(all)).toMatchObject({
    changed: true,
    name: "bot",
    expiresAt: null,
    limits: {},
    allowIps: [],
    denyIps: [],
    redirectOrigins: [],
  });
  expect((await run("keys", "update", id, "--name", "bot")).stdout).toContain(
    `alk_${id}_… was like this before`,
  );
});

it("`keys update` refuses contradictory options, an unknown key and a revoked key", async () => {
  const { json } = await makeWorkplace();
  const id = String((await json("keys", "create", "--account", "acme"))["id"]);
  const update = (line: string) => json("keys", "update", ...words(line));
  for (const line of [id, `${id} --clear limits --unlimited`, `${id} --unlimited --daily 5`]) {
    expect(await update(line)).toEqual({ error: expect.any(String) as unknown });
  }
  expect(await update(`${id} --expires 2020-01-01`)).toEqual({
    error: `Cannot update alk_${id}_…: --expires is in the past, expected a future time`,
  });
  expect(await update("Aa0Bb1Cc2Dd3 --name bot")).toEqual({
    error: "Cannot update alk_Aa0Bb1Cc2Dd3_…: there is no such key",
  });
  await json("keys", "revoke", id);
  expect(await update(`${id} --name bot`)).toEqual({ error: `Cannot update alk_${id}_…: it is revoked` });
});

it("`keys disable` and `keys enable` set the status of a key that is not revoked", async () => {
  const { json, run, dataFolder: folder } = await makeWorkplace();
  const id = String((await json("keys", "create", "--account", "acme"))["id"]);
  expect(await json("keys", "disable", id)).toEqual({ id, status: "disabled", changed: true, folder });
  expect((await run("keys", "disable", id)).stdout).toContain(`alk_${id}_… was disabled before`);
  expect(await json("keys", "enable", id)).toEqual({ id, status: "active", changed: true, folder });
  await json("keys", "revoke", id);
  for (const doing of ["disable", "enable"]) {
    expect(await json("keys", doing, id)).toEqual({ error: `Cannot ${doing} alk_${id}_…: it is revoked` });
  }
});
