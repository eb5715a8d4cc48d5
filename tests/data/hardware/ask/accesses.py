"""Writes patterns.txt, the single warp accesses that accesses.cu makes: kind, bytes per lane, mask, 32 offsets.

Kinds: 0 shared load, 1 shared store, 2 global load, 3 global store, 4 global atomic, 5 global reduction, 6 shared atomic.
"""
import random
random.seed(7)
out=[]
F=0xffffffff
def add(kind,b,off,mask=F): out.append((kind,b,mask,[o if o is not None else 0 for o in off]))
def masks():
    return [F,0xffff,0xffff0000,0x55555555,0x33333333,0xff,0x00ff00ff,0x0f0f0f0f,1,0x80000001,random.getrandbits(32)|1,random.getrandbits(32)|1,0x7fffffff,0xfffffffe]
def shared_patterns(b):
    W=32768//b
    L=range(32)
    yield [b*i for i in L]; yield [0]*32; yield [b*(31-i) for i in L]
    for s in (2,3,4,5,8,16,17,32,33): yield [b*((i*s)%W) for i in L]
    for d in (2,4,8,16): yield [b*(i//d) for i in L]
    for d in (2,4,8,16): yield [b*(i%d) for i in L]
    for x in (1,2,4,8,16,3): yield [b*(i&~x) for i in L]
    for x in (1,2,4,8,16): yield [b*((i&~x)*4) for i in L]
    for x in (1,2,4,8,16): yield [b*((i&~x)*16%W) for i in L]
    # pairs equal in first half only / mixed xor1, xor2
    yield [b*(i//2) if i<16 else b*(i&~2) for i in L]
    yield [b*(i&~1) if i<16 else b*i for i in L]
    yield [b*(i&~1) if i!=31 else b*31 for i in L]
    for sh in range(3):
        p=list(L); random.shuffle(p); yield [b*x for x in p]
    for n in (2,3,4,6,8,12,16,24,32,64,128,512):
        for rep in range(2): yield [b*random.randrange(n) for i in L]
    for n in (8,32,128,512):
        q=[random.randrange(n) for i in range(16)]
        yield [b*q[i//2] for i in L]; yield [b*q[(i//4)*2+(i&1)] for i in L]; yield [b*q[i%16] for i in L]; yield[b*q[min(i,15)] for i in L]
        yield [b*q[(i//8)] for i in L]
        yield [b*q[(i//4)] for i in L]
for b in (8,16):
    for kind in (0,1):
        for p in shared_patterns(b): add(kind,b,p)
        for m in masks():
            add(kind,b,[b*i for i in range(32)],m); add(kind,b,[b*(i//2) for i in range(32)],m); add(kind,b,[b*2*i for i in range(32)],m)
            add(kind,b,[b*(i&~2) for i in range(32)],m)
            add(kind,b,[b*random.randrange(64) for i in range(32)],m)
            add(kind,b,[0]*32,m)
for b in (1,2,4):
    for kind in (0,1):
        for p in list(shared_patterns(b))[::3]: add(kind,b,p)
        for m in masks()[::3]: add(kind,b,[b*random.randrange(256) for i in range(32)],m)
for b in (4,8):
    for p in list(shared_patterns(b))[::6]: add(6,b,p)
for kind,bs in ((2,(1,2,4,8,16)),(3,(1,2,4,8,16)),(4,(4,8)),(5,(4,8))):
    for b in bs:
        for n in (1,2,8,32,200,4096,100000):
            add(kind,b,[b*random.randrange(n) for i in range(32)]); add(kind,b,[b*random.randrange(n) for i in range(32)],random.getrandbits(32)|2)
        add(kind,b,[b*i for i in range(32)]); add(kind,b,[256+b*i*8 for i in range(32)]); add(kind,b,[16+b*i for i in range(32)])
with open('patterns.txt','w') as f:
    for k,b,m,o in out: f.write(f"{k} {b} {m} "+" ".join(map(str,o))+"\n")
print(len(out))
