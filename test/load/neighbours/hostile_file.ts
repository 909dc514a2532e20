import type { Attacker } from "./world.ts";

const boundary = "a-boundary";

/** Makes the form that uploads a file of links, of which no row repeats another one. */
export const hostileFile = ({ csrf, globalPid }: Attacker, rows = 5_000) => {
  const fields = Object.entries({ csrf: csrf.owner, pid: globalPid, onConflict: "replace" }).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const lines = Array.from({ length: rows }, (_, index) => `${300_001 + index},${(index % 9) + 1}`);
  const file = `Content-Disposition: form-data; name="file"; filename="links.csv"\r\nContent-Type: text/csv\r\n\r\n`;
  const text = `${fields.join("")}--${boundary}\r\n${file}discordId,robloxId\n${lines.join("\n")}\n\r\n--${boundary}--\r\n`;
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.from(text) };
};
