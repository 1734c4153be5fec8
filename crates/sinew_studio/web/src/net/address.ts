// Addresses on the server.

// The launch link has let this browser in, and works no more.
if (location.search.includes('launch=')) history.replaceState(null, '', location.pathname);

export function address(path: string): string {
  return path;
}

export function socketAddress(): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/ws`;
}
