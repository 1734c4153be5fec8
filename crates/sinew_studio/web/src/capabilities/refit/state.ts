// When feet are planted in the clip of the timeline: found by the server, edited by the user.
import { socket, store } from '../../app';
import { Emitter } from '../../emitter';
import type { Contact, ContactTrack } from '../../net/protocol';
import type { Player } from '../../player';
import { change } from '../rules/state';

class FootContacts extends Emitter<{ change: null }> {
  track: ContactTrack | null = null;
  chosen: number | null = null;
  /** Why there is none. */
  why = '';
  private asked = '';

  /** Follow the chosen clip as long as the panel is open. */
  watch(player: Player): void {
    let isOpen = false;
    const look = (): void => void (isOpen ? this.look(player.clip?.name ?? null) : this.take(null));
    store.on('panel', (panel) => {
      isOpen = panel === 'refit';
      look();
    });
    store.on('doc', look);
    player.on('change', look);
  }

  async set(contacts: Contact[] | null): Promise<void> {
    if (!this.track) return;
    const { clip, fps } = this.track;
    // Shown at once; the server confirms it a moment later.
    if (contacts) this.take({ ...this.track, contacts, edited: true });
    await change({ contacts: { clip, fps, contacts } });
  }

  choose(index: number): void {
    this.chosen = index;
    this.emit('change', null);
  }

  remove(index: number): void {
    if (!this.track) return;
    this.chosen = null;
    void this.set(this.track.contacts.filter((_, i) => i !== index));
  }

  private take(track: ContactTrack | null, why = ''): void {
    this.track = track;
    this.why = why;
    if (!track) this.asked = '';
    if (this.chosen !== null && this.chosen >= (track?.contacts.length ?? 0)) this.chosen = null;
    this.emit('change', null);
  }

  private async look(clip: string | null): Promise<void> {
    if (clip === null || !store.doc || store.doc.joints === 0) return this.track ? this.take(null) : undefined;
    const edited = store.doc.rules.contacts.find((other) => other.clip === clip);
    const key = JSON.stringify([store.doc.document, clip, store.doc.clips, edited]);
    if (key === this.asked) return;
    this.asked = key;
    try {
      const track = await socket.ask<ContactTrack>({ type: 'contacts', clip });
      if (this.asked === key) this.take(track);
    } catch (error) {
      if (this.asked !== key) return;
      this.take(null, error instanceof Error ? error.message : '');
      this.asked = key;
    }
  }
}

export const footContacts = new FootContacts();
