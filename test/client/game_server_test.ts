/** Runs the example game server, which names its players, with simulated players who link their accounts. */
import { isProof } from "@accountlink/test-servers";
import { expect, it } from "vitest";
import { useFlowServer } from "../contract/flow_server.ts";
import { formOf, locationOf } from "../support/flow_browser.ts";
import { runtimes, startExample } from "./program.ts";

const { fixtures, url, newBrowser } = useFlowServer({
  ACCOUNTLINK_POLL_INTERVAL: "2 seconds",
  ACCOUNTLINK_SESSION_CREATE_BURST: "2",
  ACCOUNTLINK_SESSION_CREATE_REFILL: "1 second",
  ACCOUNTLINK_SESSION_TTL: "15 seconds",
});
const names = isProof ? Object.keys(runtimes) : ["Node"];
const keys = Object.fromEntries(
  names.map((name) => [name, fixtures.key({ access: "game", links: { 100002: "5" } })]),
);

/** Types the code of a player, signs in to the chat platform, and confirms, keeps another account or cancels. */
const walk = async (code: string, chatId: string, action: string, choice: Record<string, string> = {}) => {
  const browser = newBrowser();
  const entered = await browser.post("/go", { code });
  const { search } = new URL(locationOf(entered), url());
  const page = await browser.get(locationOf(await browser.prove("chat", chatId, search)));
  expect((await browser.post(`/verify/${action}`, { ...formOf(page), ...choice })).status).toBe(200);
};

// The tests run concurrently, because each waits for a session to expire.
it.concurrent.for(names)(
  "the game server rewards players for their own account, on %s",
  async (runtime, test) => {
    // The key can create two sessions at once, so the third player must wait. The fourth player never verifies.
    const env = { ACCOUNTLINK_URL: url(), ACCOUNTLINK_KEY: keys[runtime] ?? "", PLAYERS: "1,2,3,4" };
    const game = startExample(runtime, "game_server.ts", env);
    test.onTestFinished(game.stop);
    const codeOf = (player: number) => game.untilPrinted(new RegExp(`^${player}: Open .* type (\\S+)$`, "m"));
    await walk(await codeOf(1), "100001", "confirm");
    await walk(await codeOf(2), "100002", "confirm", { keep: "1" });
    await walk(await codeOf(3), "100003", "cancel");
    await codeOf(4);
    expect(await game.ended).toBe(0);
    const told = game
      .output()
      .split("\n")
      .filter((line) => line !== "" && !line.includes("your phone"));
    expect(told.toSorted()).toEqual([
      "1: 100 coins",
      "1: Linked to 100001",
      "2: You kept the account that you linked before",
      "3: The link was not made",
      "4: The time is over; ask for a new code",
    ]);
  },
);
