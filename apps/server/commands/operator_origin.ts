import { userInfo } from "node:os";
import { originOfOperator, type WriteOrigin } from "@accountlink/core/audit";

/** Returns the origin of changes by commands. The audit log names the operating system's user as the actor. */
export const operatorOrigin = (): WriteOrigin => originOfOperator(userName());

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
