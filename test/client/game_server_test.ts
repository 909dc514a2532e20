/** Runs the example game server with simulated players who link their accounts. */
import { expect, it } from "vitest";
import { useFlowServer } from "../contract/flow_server.ts";
import { formOf } from "../support/flow_browser.ts";
import { runtimes, startExample } from "./program.ts";

const { fixtures, url, newBrowser } = useFlowServer({
  ACCOUNTLINK_POLL_INTERVAL: "2 seconds",
  ACCOUNTLINK_SESSION_CREATE_BURST: "2",
  ACCOUNTLINK_SESSION_CREATE_REFILL: "1 second",
  ACCOUNTLINK_SESSION_TTL: "15 seconds",
});
const keys = Object.fromEntries(Object.keys(runtimes).map((name) => [name, fixtures.key()]));

/** Signs a player in to both platforms, and confirms or cancels. */
const walk = async (address: string, gameId: string, action: "confirm" | "cancel") => {
  const browser = newBrowser();
  const { search } = new URL(address);
  const page = await browser.walk(search, "100001", gameId);
  expect((await browser.post(`/verify/${action}`, formOf(page))).status).toBe(200);
};

// The tests run concurrently, because each waits for a session to expire.
it.concurrent.for(Object.keys(runtimes))(
  "the game server rewards players for their own account, on %s",
  async (runtime, test) => {
    // The key can create two sessions at once, so the third player must wait. The fourth player never verifies.
    const env = { ACCOUNTLINK_URL: url(), ACCOUNTLINK_KEY: keys[runtime] ?? "", PLAYERS: "1,2,3,4" };
    const game = startExample(runtime, "game_server.ts", env);
    test.onTestFinished(game.stop);
    const linkOf = (player: number) => game.untilPrinted(new RegExp(`^${player}: Link .* (http\\S+)$`, "m"));
    await walk(await linkOf(1), "1", "confirm");
    await walk(await linkOf(2), "5", "confirm");
    await walk(await linkOf(3), "3", "cancel");
    await linkOf(4);
    expect(await game.ended).toBe(0);
    const told = game
      .output()
      .split("\n")
      .filter((line) => line !== "" && !line.includes("Link your"));
    expect(told.toSorted()).toEqual([
      "1: 100 coins",
      "1: Linked to 100001",
      "2: You signed in as 5, which is another account",
      "3: The link was not made",
      "4: The time is over; ask for a new link",
    ]);
  },
);
