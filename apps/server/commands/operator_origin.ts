/** The audit log's origin of changes by the command line. */
import { userInfo } from "node:os";
import type { WriteOrigin } from "@accountlink/core/audit";

/** The actor is the user of the operating system. */
export const operatorOrigin = (): WriteOrigin => ({
  actor: { type: "operator", id: userName() },
  requestId: null,
});

const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
