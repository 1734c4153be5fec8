// What lets a browser in: the cookie that each studio gives for its launch link, by origin. A link works once, and every page of a
// test is a browser of its own.
const cookies = new Map();

/** Open the launch link, and remember the cookie; the address to open from then on. */
export async function useLaunchLink(url) {
  const answer = await fetch(url);
  const [pair] = answer.headers.getSetCookie()[0].split(';');
  const [name, value] = pair.split('=');
  const { origin } = new URL(url);
  cookies.set(origin, { name, value, url: origin, httpOnly: true, sameSite: 'Strict' });
  return `${origin}/`;
}

/** The cookies that a browser needs for an address. */
export function cookiesFor(url) {
  const cookie = cookies.get(new URL(url).origin);
  return cookie ? [cookie] : [];
}
