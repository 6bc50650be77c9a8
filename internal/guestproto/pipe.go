package guestproto

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// PipeWindow bounds what a pipe holds of one direction: bytes that the other end has not said to have, and as many
	// that it has and nobody has read.
	PipeWindow = 4 << 20
	// pipeTold is after how much an end says what it has, if it has nothing else to say. It is more than half a FarWindow,
	// after which a reader gives credit: a packet that says both is one request.
	pipeTold = PipeWindow / 8 * 3
	// pipeBatch is how much goes into one Write of a carrier, which may be a request that costs a trip.
	pipeBatch = 128 << 10
	// gatherTime lies between two batches of which the second is small. What comes after a pause goes at once; of what
	// comes bit by bit each bit would else be a message on all of the way.
	gatherTime = time.Millisecond
	// greetLimit is how long a carrier may take from its first byte to the other end's answer.
	greetLimit = 30 * time.Second
)

// ErrSuperseded is the end of a carrier in whose place the host has brought another.
var ErrSuperseded = errors.New("another carrier took its place")

// Pipe is a byte stream each way that outlives what carries it. Carriers are numbered by the host, and a later one takes
// the place of any earlier: bytes of the latter count no more. Each end keeps what the other has not yet said to have and
// sends it again on the next carrier, from the byte on that is missing there. So no byte is lost and none comes twice. It is
// for one reader and one writer at a time; Close may come from anywhere.
type Pipe struct {
	host bool

	mu      sync.Mutex
	news    *sync.Cond
	out     queue  // written, and not said to have arrived
	base    uint64 // offset of out[0]
	next    uint64 // offset of the first byte that this carrier has not taken
	in      queue  // arrived, and not read
	got     uint64 // offset of the byte that is due
	told    uint64 // got, as the other end has heard it
	carrier io.Closer
	number  uint32
	err     error
}

// NewPipe makes one end. Nothing flows before it has a carrier.
func NewPipe(host bool) *Pipe {
	p := &Pipe{host: host}
	p.news = sync.NewCond(&p.mu)
	return p
}

// Read gives what has arrived, or waits. After the end of the pipe it still gives what is there.
func (p *Pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.in.len() == 0 && p.err == nil {
		p.news.Wait()
	}
	if p.in.len() == 0 {
		return 0, p.err
	}
	n := copy(b, p.in.bytes())
	p.in.drop(n)
	p.news.Broadcast()
	return n, nil
}

// Write takes b as soon as there is room for it. That it is taken does not mean that it has arrived.
func (p *Pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for done := 0; ; {
		for p.out.len() == PipeWindow && p.err == nil {
			p.news.Wait()
		}
		if p.err != nil {
			return done, p.err
		}
		n := min(len(b)-done, PipeWindow-p.out.len())
		p.out.add(b[done : done+n])
		p.news.Broadcast()
		if done += n; done == len(b) {
			return done, nil
		}
	}
}

// Close ends this end at once, and its carrier.
func (p *Pipe) Close() error {
	p.Fail(net.ErrClosed)
	return nil
}

// Fail ends the pipe for a reason, which Read and Write then give.
func (p *Pipe) Fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.err = err
	if p.carrier != nil {
		p.carrier.Close()
	}
	p.news.Broadcast()
}

// Err is why the pipe ended, or nil.
func (p *Pipe) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Carried says whether the pipe has a carrier at this moment.
func (p *Pipe) Carried() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.carrier != nil
}

// Carry uses c until it is cut, and closes it. number is the carrier's; the guest's end learns it from c and is given 0.
// greeted, when not nil, is called once both ends have agreed. The error says why it ended; ErrBroken and any error after
// the pipe's own end mean that no other carrier can help.
func (p *Pipe) Carry(c io.ReadWriteCloser, number uint32, greeted func()) error {
	defer c.Close()
	late := time.AfterFunc(greetLimit, func() { c.Close() })
	err := p.greet(c, &number)
	late.Stop()
	if err != nil {
		return err
	}
	if greeted != nil {
		greeted()
	}
	sent := make(chan error, 1)
	go func() {
		err := p.pump(c, number)
		c.Close() // so that the reader ends too
		sent <- err
	}()
	err = p.take(c, number)
	p.mu.Lock()
	if p.number == number {
		p.carrier = nil
	}
	p.news.Broadcast() // the pump waits perhaps
	p.mu.Unlock()
	c.Close()
	if other := <-sent; errors.Is(err, net.ErrClosed) && other != nil {
		err = other
	}
	if errors.Is(err, ErrBroken) {
		p.Fail(err)
	}
	return err
}

// greet has both ends say what they have, and makes c the carrier.
func (p *Pipe) greet(c io.ReadWriteCloser, number *uint32) error {
	if p.host {
		p.mu.Lock()
		hello := packet{kind: pipeHello, at: uint64(*number), got: p.got}
		p.mu.Unlock()
		if _, err := c.Write(hello.append(nil)); err != nil {
			return err
		}
	}
	first, _, err := readPacket(c, nil)
	want := pipeHello
	if p.host {
		want = pipeWelcome
	}
	switch {
	case err != nil:
		return err
	case first.kind != want || first.size != 0 || first.at == 0 || first.at > 1<<32-1:
		return fmt.Errorf("%w: a carrier that begins with a packet of kind %d", ErrBroken, first.kind)
	case p.host && first.at != uint64(*number):
		return fmt.Errorf("%w: an answer to another carrier", ErrBroken)
	}
	*number = uint32(first.at)
	if err := p.adopt(c, *number, first.got); err != nil {
		return err
	}
	if !p.host {
		p.mu.Lock()
		welcome := packet{kind: pipeWelcome, at: uint64(*number), got: p.got}
		p.mu.Unlock()
		if _, err := c.Write(welcome.append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// adopt makes c the carrier, on which sending goes on from what the other end has.
func (p *Pipe) adopt(c io.Closer, number uint32, theyHave uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
		return p.err
	case number <= p.number:
		return ErrSuperseded
	}
	if err := p.heard(theyHave, p.base+uint64(p.out.len())); err != nil {
		return err
	}
	if p.carrier != nil {
		p.carrier.Close()
	}
	p.carrier, p.number, p.next, p.told = c, number, theyHave, p.got
	p.news.Broadcast()
	return nil
}

// heard drops what the other end has, which cannot be more than most. The caller holds p.mu.
func (p *Pipe) heard(theyHave, most uint64) error {
	if theyHave < p.base || theyHave > most {
		return fmt.Errorf("%w: the other end waits for byte %d, of %d to %d", ErrBroken, theyHave, p.base, most)
	}
	if n := theyHave - p.base; n > 0 {
		p.out.drop(int(n))
		p.base = theyHave
		p.news.Broadcast()
	}
	return nil
}

// current says whether the carrier of that number is the pipe's. The caller holds p.mu.
func (p *Pipe) current(number uint32) error {
	switch {
	case p.err != nil:
		return p.err
	case p.number != number:
		return ErrSuperseded
	case p.carrier == nil:
		return net.ErrClosed
	}
	return nil
}

// take reads packets until the carrier is cut.
func (p *Pipe) take(c io.Reader, number uint32) error {
	var buf []byte
	for {
		k, payload, err := readPacket(c, buf)
		if err != nil {
			return err
		}
		buf = payload[:0]
		if err := p.arrived(k, payload, number); err != nil {
			return err
		}
	}
}

func (p *Pipe) arrived(k packet, payload []byte, number uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for err := p.current(number); err != nil || p.in.len() >= PipeWindow; err = p.current(number) {
		if err != nil {
			return err
		}
		p.news.Wait()
	}
	switch {
	case k.kind != pipeData:
		return fmt.Errorf("%w: a packet of kind %d", ErrBroken, k.kind)
	case k.at > p.got:
		return fmt.Errorf("%w: byte %d came where %d was due", ErrBroken, k.at, p.got)
	}
	if err := p.heard(k.got, p.next); err != nil {
		return err
	}
	if skip := p.got - k.at; skip < uint64(len(payload)) { // the rest is here already
		p.in.add(payload[skip:])
		p.got += uint64(len(payload)) - skip
		p.news.Broadcast()
	}
	return nil
}

// pump writes what is due until the carrier is cut or is the pipe's no more.
func (p *Pipe) pump(c io.Writer, number uint32) error {
	var batch []byte
	var last time.Time
	for {
		var err error
		if pause := gatherTime - time.Since(last); pause > 0 && p.few() {
			time.Sleep(pause)
		}
		if batch, err = p.due(batch[:0], number); err != nil {
			return err
		}
		last = time.Now()
		if _, err := c.Write(batch); err != nil {
			return err
		}
	}
}

// few says that what there is to send is no good part of a batch.
func (p *Pipe) few() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.base+uint64(p.out.len())-p.next < pipeBatch/2
}

// due waits for something to send: bytes, or the news that a good part of a window has arrived.
func (p *Pipe) due(batch []byte, number uint32) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if err := p.current(number); err != nil {
			return nil, err
		}
		rest := p.out.bytes()[p.next-p.base:]
		if len(rest) > 0 || p.got-p.told >= pipeTold {
			p.told = p.got
			for first := true; first || len(rest) > 0 && len(batch) < pipeBatch; first = false {
				n := min(len(rest), MaxChunk)
				batch = packet{kind: pipeData, at: p.next, got: p.got, size: n}.append(batch)
				batch = append(batch, rest[:n]...)
				p.next += uint64(n)
				rest = rest[n:]
			}
			return batch, nil
		}
		p.news.Wait()
	}
}
