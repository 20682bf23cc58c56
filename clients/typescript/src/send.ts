// Sending: which answers are final, how long to wait before another attempt. Everything sent here is safe to repeat: reads,
// removals, and posts that carry the same idempotency key on every attempt.

/** Something that sends a request, as the global `fetch` does. */
export type Fetch = (request: Request) => Promise<Response>;

const firstPause = 200;
const longestPause = 10_000;

/** Doubles from attempt to attempt, up to a limit, and is spread by half, so that many callers do not come back at once. */
function pause(attempt: number): number {
  const full = Math.min(firstPause * 2 ** (attempt - 1), longestPause);
  return full / 2 + (Math.random() * full) / 2;
}

/** What the service asked for, in milliseconds; 0 where it did not. */
export function retryAfter(headers: Headers): number {
  const seconds = Number(headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

/** Refusals that may pass by themselves. A conflict does only where the service says when. */
function worthRepeating(response: Response): boolean {
  return [429, 500, 502, 503, 504].includes(response.status) || (response.status === 409 && retryAfter(response.headers) > 0);
}

const timer = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** A fetch that tries again where that may help, `attempts` times at most. Redirects are not followed: they would carry the key away. */
export function retrying(send: Fetch, attempts: number, sleep: (ms: number) => Promise<void> = timer): Fetch {
  return async (request) => {
    for (let attempt = 1; ; attempt++) {
      let wait = pause(attempt);
      try {
        const response = await send(new Request(request.clone(), { redirect: "manual" }));
        if (attempt >= attempts || !worthRepeating(response)) return response;
        wait = Math.max(wait, retryAfter(response.headers));
        await response.body?.cancel();
      } catch (cause) {
        if (attempt >= attempts || request.signal.aborted) throw cause;
      }
      await sleep(wait);
      request.signal.throwIfAborted();
    }
  };
}
