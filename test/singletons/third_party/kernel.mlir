// A kernel for a backend's pass, which counts the effects on Triton's memory, and for one that asks our analyses. As in
// effects.mlir.

// WRITES: module attributes {basin.writes = 2 : i64}
// ALIGNMENT: remark: divisible by 16{{$}}
// ALIGNMENT: remark: divisible by 4{{$}}
// ALIGNMENT: remark: divisible by 64{{$}}
tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %i: i32, %m: memref<4xf32>) {
  %a = tt.load %x : !tt.ptr<f32>
  %y = tt.addptr %x, %i : !tt.ptr<f32>, i32
  %b = tt.load %y : !tt.ptr<f32>
  %z = tank.align %y to 64 : !tt.ptr<f32>
  %c = tt.load %z : !tt.ptr<f32>
  tt.store %y, %a : !tt.ptr<f32>
  tank.fill %b, %m : memref<4xf32>
  tank.flood
  tt.return
}
