#!/bin/sh
# Gives HAProxy a renewed certificate. certbot runs it from /etc/letsencrypt/renewal-hooks/deploy.
set -e
umask 077
cd "${RENEWED_LINEAGE:-/etc/letsencrypt/live/links.example.com}"
cat fullchain.pem privkey.pem > /etc/haproxy/certificate.pem
systemctl reload haproxy
