import { makeBalancer } from "./balancer.ts";

const nginx = makeBalancer({
  name: "nginx",
  names: ["nginx"],
  path: "usr/sbin/nginx",
  packages: ["nginx"],
  argumentsFor: (config, folder) => [
    "-p",
    folder,
    "-c",
    config,
    "-e",
    "stderr",
    "-g",
    `daemon off; pid ${folder}/nginx.pid;`,
  ],
});

/** Returns null if nginx is available, else the reason, for titles of skipped tests. With CI=true, throws instead. */
export const whyNoNginx = nginx.whyNone;

/**
 * Starts an nginx on a free port, and returns the port. It is stopped when the scope closes or this process ends.
 *
 * @param configFor returns a configuration with which nginx listens on the given port of 127.0.0.1, and keeps its files
 * in the given folder
 */
export const startNginx = nginx.start;
