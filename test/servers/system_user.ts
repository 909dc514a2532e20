/** Chooses the system user that runs the test servers, since some of them refuse to run as root. */
import { execFileSync } from "node:child_process";

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the user `nobody` if this process runs as root; else null, which stands for the user of this process. */
export const userOfServers = (): SystemUser | null => {
  if (process.getuid?.() !== 0) return null;
  return { uid: idOfNobody("-u"), gid: idOfNobody("-g") };
};

const idOfNobody = (flag: "-u" | "-g"): number =>
  Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
