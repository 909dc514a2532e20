/**
 * The load generator, in a process of its own. Prints a `Drive` as JSON.
 *
 * Usage: `node drive.ts URL SEED REQUESTS`
 */
import autocannon from "autocannon";
import { apiKey, shuffledChatIds } from "./workload.ts";

/** What one drive came to. */
export interface Drive {
  readonly requests: number;
  /** How long it took, in seconds. */
  readonly seconds: number;
  /** Latency in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Requests that failed or were refused. A drive with any measures nothing. */
  readonly failed: number;
  /** Share of a core that the generator itself used. Near 1, it and not the server sets the pace. */
  readonly generatorLoad: number;
}

const connections = 32;

const drive = async (url: string, seed: number, amount: number): Promise<Drive> => {
  const chatIds = shuffledChatIds(seed);
  const share = Math.floor(chatIds.length / connections);
  let client = 0;
  const before = process.cpuUsage();
  const result = await autocannon({
    url,
    connections,
    amount,
    headers: { authorization: `Bearer ${apiKey}` },
    setupClient: (connection) => {
      const own = chatIds.slice(client * share, (client + 1) * share);
      client++;
      connection.setRequests(own.map((chatId) => ({ method: "GET", path: `/v2/chat?chatId=${chatId}` })));
    },
  });
  const { user, system } = process.cpuUsage(before);
  return {
    requests: result["2xx"],
    seconds: result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx,
    generatorLoad: (user + system) / 1e6 / result.duration,
  };
};

if (import.meta.main) {
  const [url = "", seed, amount] = process.argv.slice(2);
  console.log(JSON.stringify(await drive(url, Number(seed), Number(amount))));
}
