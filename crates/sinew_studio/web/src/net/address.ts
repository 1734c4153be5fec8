// Addresses on the server, with the token of a studio that listens beyond this machine.

const token = new URLSearchParams(location.search).get('token');

export function address(path: string): string {
  if (!token) return path;
  return `${path}${path.includes('?') ? '&' : '?'}token=${encodeURIComponent(token)}`;
}

export function socketAddress(): string {
  return `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}${address('/ws')}`;
}
