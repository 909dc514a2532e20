/**
 * A game server that rewards players who link their chat account. It names its player, so that the player signs in to
 * the chat platform alone: the key needs access `game`. Since it can only send HTTP requests, it reads sessions by long
 * poll.
 *
 * ACCOUNTLINK_URL=http://127.0.0.1:8080 ACCOUNTLINK_KEY=alk_… PLAYERS=1,2 node examples/game_server.ts
 *
 * Node 22.18 or newer, Deno or Bun, which run TypeScript; a checkout has one as tools/node.
 */
import { AccountLinkError, type Client, createClient } from "@accountlink/client";

export interface Game {
  readonly show: (playerId: string, text: string) => void;
  readonly reward: (playerId: string) => void;
}

/** Returns a function that asks a player to link, and rewards the player once. */
export const linkingFor = ({ sessions }: Client, { show, reward }: Game) => {
  // A real game would store these players with their progress, so that it rewards nobody twice after a restart.
  const rewarded = new Set<string>();

  const link = async (playerId: string): Promise<string> => {
    const { sid, code, codeUrl } = await sessions.create({ clientId: playerId, gameId: playerId });
    // Only to this player: whoever types the code and confirms is linked to the player's account.
    show(playerId, `Open ${codeUrl} on your phone and type ${code}`);
    const { state, chatId, gameId } = await sessions.wait(sid);
    if (state !== "completed") return "The link was not made";
    if (gameId !== playerId) return "You kept the account that you linked before";
    if (!rewarded.has(playerId)) reward(playerId);
    rewarded.add(playerId);
    return `Linked to ${chatId}`;
  };

  return async (playerId: string): Promise<void> => {
    const ending = await link(playerId).catch((error: unknown) => {
      if (!(error instanceof AccountLinkError)) throw error;
      if (error.code === "SESSION_EXPIRED") return "The time is over; ask for a new code";
      if (error.code === "RATE_LIMITED") return "Too many ask at once; try again later";
      throw error;
    });
    show(playerId, ending);
  };
};

const print = (playerId: string, text: string) => process.stdout.write(`${playerId}: ${text}\n`);

if (import.meta.main) {
  const { ACCOUNTLINK_URL: url = "", ACCOUNTLINK_KEY: key = "", PLAYERS = "" } = process.env;
  const game = { show: print, reward: (playerId: string) => print(playerId, "100 coins") };
  await Promise.all(PLAYERS.split(",").map(linkingFor(createClient({ url, key }), game)));
}
