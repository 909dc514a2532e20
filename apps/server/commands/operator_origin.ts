/** The origin that the audit log records for changes made on the command line. */
import { userInfo } from "node:os";
import { originOfOperator, type WriteOrigin } from "@accountlink/core/audit";

/** The audit log names the operating system's user as the actor of a command. */
export const operatorOrigin = (): WriteOrigin => originOfOperator(userName());

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
