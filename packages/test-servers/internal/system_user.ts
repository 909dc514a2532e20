/** Whom a server runs as that refuses to run as root. */
import { execFileSync } from "node:child_process";

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Null when this process may run the server as it is. Root gets the user of this machine who owns nothing. */
export const userOfServers = (): SystemUser | null => {
  if (process.getuid?.() !== 0) return null;
  return { uid: idOfNobody("-u"), gid: idOfNobody("-g") };
};

const idOfNobody = (flag: "-u" | "-g"): number =>
  Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
