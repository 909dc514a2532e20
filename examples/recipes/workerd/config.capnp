using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "disk", disk = (path = "data", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  modules = [(name = "main", esModule = embed "dist/main.js")],
  compatibilityDate = "2026-01-01",
  # Long polls and streams end when their client leaves.
  compatibilityFlags = ["enable_request_signal"],
  bindings = [
    (name = "LINKS", durableObjectNamespace = "Links"),
    # Base64 of 32 random bytes of yours: openssl rand -base64 32
    (name = "SECRET", fromEnvironment = "ACCOUNTLINK_SECRET"),
  ],
  durableObjectNamespaces = [(className = "Links", uniqueKey = "links", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
