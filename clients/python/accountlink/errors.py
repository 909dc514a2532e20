"""The errors of the client: one class, with a code."""

from __future__ import annotations

from typing import Any, Literal

from .contract import ServiceCode

ErrorCode = Literal[ServiceCode, "NETWORK_ERROR", "TIMEOUT", "UNEXPECTED_RESPONSE"]
"""A code of the service, or of the client: no connection, no answer in time, an answer of something else"""


class AccountLinkError(Exception):
    """Why a call failed. Each code of the service has a page, such as /guide/errors/LINK_NOT_FOUND.html."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        route: str,
        details: Any = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        """For people; its wording may change"""
        self.route = route
        self.details = details
        """As `ForbiddenDetails` and the like of `accountlink.contract` say; None for most codes"""
        self.status = status
        """The HTTP status; None without an answer"""
        self.request_id = request_id
        """The ID by which operators find the request in their logs"""
        self.retry_after = retry_after
        """Seconds after which a retry may succeed, as the service said"""

    def __str__(self) -> str:
        details = "" if self.details is None else f" {self.details}"
        request = "" if self.request_id is None else f", request {self.request_id}"
        return f"{self.message} ({self.code}{details}{request})"
